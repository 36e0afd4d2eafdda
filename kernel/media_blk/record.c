// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first so many requests, as the medium got and answered them: /sys/block/mblk0/requests, an array of struct
 * media_blk_record. Off unless insmod asks for it. Replayed on the host from the same state, they must get the same
 * answers.
 */
#include <linux/mm.h>
#include <linux/sysfs.h>

#include "media_blk.h"

int media_blk_record_start(struct media_blk *mb)
{
	size_t bytes = mb->options.record * sizeof(*mb->records);

	if (!bytes)
		return 0;
	mb->records = kvzalloc(bytes, GFP_KERNEL);
	return mb->records ? 0 : -ENOMEM;
}

void media_blk_record_stop(struct media_blk *mb)
{
	kvfree(mb->records);
}

void media_blk_record_add(struct media_blk *mb, const struct fb_request *request, u64 now_ns, u64 done_ns)
{
	if (mb->record_count == mb->options.record)
		return;
	mb->records[mb->record_count++] = (struct media_blk_record) {
		.now_ns = now_ns,
		.done_ns = done_ns,
		.offset_bytes = request->offset_bytes,
		.length_bytes = request->length_bytes,
		.op = request->op,
		.fua = request->fua,
	};
}

static ssize_t requests_read(struct file *file, struct kobject *kobj, struct bin_attribute *attribute,
			     char *buffer, loff_t at, size_t count)
{
	struct media_blk *mb = dev_to_disk(kobj_to_dev(kobj))->private_data;

	return memory_read_from_buffer(buffer, count, &at, mb->records,
				       READ_ONCE(mb->record_count) * sizeof(*mb->records));
}

static BIN_ATTR_RO(requests, 0);

static struct bin_attribute *record_attributes[] = { &bin_attr_requests, NULL };

static umode_t record_visible(struct kobject *kobj, struct bin_attribute *attribute, int index)
{
	struct media_blk *mb = dev_to_disk(kobj_to_dev(kobj))->private_data;

	return mb->records ? attribute->attr.mode : 0;
}

const struct attribute_group media_blk_record_group = {
	.bin_attrs = record_attributes,
	.is_bin_visible = record_visible,
};
