// SPDX-License-Identifier: GPL-2.0-only
/* What a medium has counted and how it has worn, as files of its device in sysfs. */
#include <linux/sysfs.h>

#include "media_common.h"

struct counter_attribute {
	struct device_attribute attribute;
	enum fb_counter counter;
};

static ssize_t counter_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct counter_attribute *c = container_of(attribute, struct counter_attribute, attribute);

	return sysfs_emit(text, "%llu\n", READ_ONCE(fb_medium_counters(media_of(dev))->by_index[c->counter]));
}

#define COUNTER_ATTRIBUTE(counter_name, kinds, unit, meaning) \
	static struct counter_attribute counter_##counter_name = { \
		.attribute = __ATTR(counter_name, 0444, counter_show, NULL), \
		.counter = FB_COUNTER_##counter_name, \
	};

FB_COUNTERS(COUNTER_ATTRIBUTE)

#define COUNTER_POINTER(counter_name, kinds, unit, meaning) \
	&counter_##counter_name.attribute.attr,

static struct attribute *counter_attributes[] = {
	FB_COUNTERS(COUNTER_POINTER)
	NULL
};

/* A disk has no erased blocks to count */
static umode_t counter_visible(struct kobject *kobj, struct attribute *attribute, int index)
{
	u64 kind = fb_medium_params(media_of(kobj_to_dev(kobj)))->kind;

	return fb_counter_rule(index)->kinds & 1u << kind ? attribute->mode : 0;
}

const struct attribute_group media_counter_group = {
	.name = "medium",
	.attrs = counter_attributes,
	.is_visible = counter_visible,
};

/* Each looks at all blocks: for whoever asks before and after, not for whoever asks all the time */
#define WEAR_FILE(name) \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attribute, char *text) \
	{ \
		return sysfs_emit(text, "%llu\n", fb_medium_wear(media_of(dev)).name); \
	} \
	static DEVICE_ATTR_RO(name);

#define WEAR(W) \
	W(blocks) W(erase_count_min) W(erase_count_max) W(erase_count_sum) W(factory_bad_blocks) W(grown_bad_blocks)

WEAR(WEAR_FILE)

#define WEAR_POINTER(name) &dev_attr_##name.attr,

static struct attribute *wear_attributes[] = {
	WEAR(WEAR_POINTER)
	NULL
};

/* A disk's directory is empty: nobody knows how its parts wear */
static umode_t wear_visible(struct kobject *kobj, struct attribute *attribute, int index)
{
	u64 kind = fb_medium_params(media_of(kobj_to_dev(kobj)))->kind;

	return FB_OF_NAND & 1u << kind ? attribute->mode : 0;
}

/* A u32 for each block. Not in the directory wear/, whose files hold a number of text each. */
static ssize_t erases_read(struct file *file, struct kobject *kobj, struct bin_attribute *attribute, char *buffer,
			   loff_t at, size_t count)
{
	const struct fb_medium *medium = media_of(kobj_to_dev(kobj));
	u64 block = div_u64(at, sizeof(u32)), blocks = fb_blocks(medium);
	u32 *erases = (u32 *)buffer;
	size_t i;

	for (i = 0; i < count / sizeof(u32) && block < blocks; i++)
		erases[i] = fb_block_erases(medium, block++);
	return i * sizeof(u32);
}

static BIN_ATTR_RO(erases, 0);
static struct bin_attribute *erases_files[] = { &bin_attr_erases, NULL };

static umode_t erases_visible(struct kobject *kobj, struct bin_attribute *attribute, int index)
{
	return fb_blocks(media_of(kobj_to_dev(kobj))) ? attribute->attr.mode : 0;
}

const struct attribute_group media_erases_group = {
	.bin_attrs = erases_files,
	.is_bin_visible = erases_visible,
};

const struct attribute_group media_wear_group = {
	.name = "wear",
	.attrs = wear_attributes,
	.is_visible = wear_visible,
};
