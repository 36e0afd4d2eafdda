// SPDX-License-Identifier: GPL-2.0-only
/* The medium's counters as files in /sys/block/mblk0/medium/, a number each */
#include <linux/sysfs.h>

#include "media_blk.h"

struct counter_attribute {
	struct device_attribute attribute;
	enum fb_counter counter;
};

static ssize_t counter_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct counter_attribute *c = container_of(attribute, struct counter_attribute, attribute);
	struct media_blk *mb = dev_to_disk(dev)->private_data;

	return sysfs_emit(text, "%llu\n", READ_ONCE(fb_medium_counters(mb->medium)->by_index[c->counter]));
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
	struct media_blk *mb = dev_to_disk(kobj_to_dev(kobj))->private_data;
	u64 kind = fb_medium_params(mb->medium)->kind;

	return fb_counter_rule(index)->kinds & 1u << kind ? attribute->mode : 0;
}

static const struct attribute_group counter_group = {
	.name = "medium",
	.attrs = counter_attributes,
	.is_visible = counter_visible,
};

const struct attribute_group *media_blk_groups[] = { &counter_group, &media_blk_record_group, NULL };
