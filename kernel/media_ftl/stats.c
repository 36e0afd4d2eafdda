// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/block/mftl0/layer/, a number in each file: the core's counters of the flash, as far as a layer on real flash has
 * them, and what the layer costs the host. Beside it the log of requests.
 */
#include <linux/sysfs.h>

#include "media_ftl.h"

static struct media_ftl *of_device(struct device *dev)
{
	return dev_to_disk(dev)->private_data;
}

#define FILE_OF(name, value) \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attribute, char *text) \
	{ \
		struct sftl *l = of_device(dev)->layer; \
		return sysfs_emit(text, "%llu\n", (u64)(value)); \
	} \
	static DEVICE_ATTR_RO(name);

#define COUNTER_FILE(name) FILE_OF(name, READ_ONCE(fb_medium_counters(l->medium)->name))

#define COUNTERS(C) \
	C(flash_read_pages) C(flash_programmed_pages) C(flash_erased_blocks) C(collections) C(collection_moved_pages) \
	C(switch_merges) C(partial_merges) C(full_merges)

COUNTERS(COUNTER_FILE)
FILE_OF(memory_bytes, l->bytes + 2 * l->flash.page_bytes)
FILE_OF(spare_blocks, READ_ONCE(l->spare_count))
FILE_OF(bad_blocks, READ_ONCE(l->statistics.bad_blocks))
FILE_OF(lost_pages, READ_ONCE(l->statistics.lost_pages))
FILE_OF(merged_at_start, READ_ONCE(l->statistics.merged_at_start))

#define ATTRIBUTE(name) &dev_attr_##name.attr,

static struct attribute *attributes[] = {
	COUNTERS(ATTRIBUTE)
	ATTRIBUTE(memory_bytes)
	ATTRIBUTE(spare_blocks)
	ATTRIBUTE(bad_blocks)
	ATTRIBUTE(lost_pages)
	ATTRIBUTE(merged_at_start)
	NULL
};

static const struct attribute_group group = { .name = "layer", .attrs = attributes };

static struct request_log *log_of(struct gendisk *disk)
{
	struct media_ftl *f = disk->private_data;

	return &f->log;
}

REQUEST_LOG_FILE(request_group, log_of);

const struct attribute_group *media_ftl_groups[] = { &group, &request_group, NULL };
