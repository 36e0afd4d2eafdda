/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first so many requests that a block device got, and when it had done them: an array of struct request_log_entry
 * in the file requests of its disk. Off unless insmod asks for it. Writing anything to the file forgets what is in it,
 * so that a measurement can begin with an empty one.
 *
 * Whoever adds entries sees to it that no two do so at a time; whoever forgets them, that no request is under way.
 */
#ifndef REQUEST_LOG_H
#define REQUEST_LOG_H

#include <linux/sysfs.h>
#include <linux/types.h>

#include "fb_medium.h"

struct request_log_entry {
	u64 now_ns;
	u64 done_ns;
	u64 offset_bytes;
	u64 length_bytes;
	u32 op;				/* enum fb_op */
	u32 fua;
};

struct request_log {
	struct request_log_entry *at;	/* NULL: off */
	u32 capacity;
	u32 count;
};

int request_log_start(struct request_log *log, unsigned int capacity);
void request_log_stop(struct request_log *log);
void request_log_add(struct request_log *log, const struct fb_request *request, u64 now_ns, u64 done_ns);
ssize_t request_log_read(const struct request_log *log, char *buffer, loff_t at, size_t count);

/*
 * The file, for a disk of which OF_DISK finds the log: REQUEST_LOG_FILE(my_group, log_of_my_disk) makes the attribute
 * group my_group.
 */
#define REQUEST_LOG_FILE(group, of_disk) \
	static struct request_log *group##_log(struct kobject *kobj) \
	{ \
		return of_disk(dev_to_disk(kobj_to_dev(kobj))); \
	} \
	static ssize_t requests_read(struct file *file, struct kobject *kobj, struct bin_attribute *attribute, \
				     char *buffer, loff_t at, size_t count) \
	{ \
		return request_log_read(group##_log(kobj), buffer, at, count); \
	} \
	static ssize_t requests_write(struct file *file, struct kobject *kobj, struct bin_attribute *attribute, \
				      char *buffer, loff_t at, size_t count) \
	{ \
		WRITE_ONCE(group##_log(kobj)->count, 0); \
		return count; \
	} \
	static BIN_ATTR_RW(requests, 0); \
	static struct bin_attribute *group##_files[] = { &bin_attr_requests, NULL }; \
	static umode_t group##_visible(struct kobject *kobj, struct bin_attribute *attribute, int index) \
	{ \
		return group##_log(kobj)->at ? attribute->attr.mode : 0; \
	} \
	static const struct attribute_group group = { \
		.bin_attrs = group##_files, \
		.is_bin_visible = group##_visible, \
	}

#endif
