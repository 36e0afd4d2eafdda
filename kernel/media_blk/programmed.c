// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many flash pages had been programmed at which moment since the medium last rested, in the file programmed of the
 * disk: an array of struct media_blk_moment. There are at most MEDIA_BLK_MOMENTS of them, evenly apart as far as
 * requests come; when there is no room left, every other one goes, and from then on they lie twice as far apart.
 */
#include "media_blk.h"

#define FIRST_GAP_NS	NSEC_PER_MSEC

void media_blk_forget_programmed(struct media_blk_programmed *p)
{
	p->gap_ns = FIRST_GAP_NS;
	p->next_ns = 0;
	p->count = 0;
}

static void thin_out(struct media_blk_programmed *p)
{
	u32 i;

	for (i = 0; i < MEDIA_BLK_MOMENTS / 2; i++)
		p->at[i] = p->at[2 * i + 1];
	p->count = MEDIA_BLK_MOMENTS / 2;
	p->gap_ns *= 2;
}

void media_blk_note_programmed(struct media_blk_programmed *p, u64 now_ns, u64 pages)
{
	if (now_ns < p->next_ns)
		return;
	if (p->count == MEDIA_BLK_MOMENTS)
		thin_out(p);
	p->at[p->count++] = (struct media_blk_moment) { .now_ns = now_ns, .pages = pages };
	p->next_ns = now_ns + p->gap_ns;
}

static ssize_t programmed_read(struct file *file, struct kobject *kobj, struct bin_attribute *attribute, char *buffer,
			       loff_t at, size_t count)
{
	struct media_blk *mb = dev_to_disk(kobj_to_dev(kobj))->private_data;
	unsigned long flags;
	ssize_t bytes;

	spin_lock_irqsave(&mb->lock, flags);
	bytes = memory_read_from_buffer(buffer, count, &at, mb->programmed.at,
					mb->programmed.count * sizeof(*mb->programmed.at));
	spin_unlock_irqrestore(&mb->lock, flags);
	return bytes;
}

static BIN_ATTR_RO(programmed, 0);
static struct bin_attribute *programmed_files[] = { &bin_attr_programmed, NULL };

static umode_t programmed_visible(struct kobject *kobj, struct bin_attribute *attribute, int index)
{
	return fb_medium_params(media_of(kobj_to_dev(kobj)))->kind == FB_FLASH ? attribute->attr.mode : 0;
}

const struct attribute_group media_blk_programmed_group = {
	.bin_attrs = programmed_files,
	.is_bin_visible = programmed_visible,
};
