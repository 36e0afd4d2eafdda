// SPDX-License-Identifier: GPL-2.0-only
/* See cycles.h */
#include <linux/mm.h>
#include <linux/string.h>

#include "media_nand.h"

int cycle_log_start(struct cycle_log *log, unsigned int capacity)
{
	log->capacity = capacity;
	if (!capacity)
		return 0;
	log->at = kvcalloc(capacity, sizeof(*log->at), GFP_KERNEL);
	return log->at ? 0 : -ENOMEM;
}

void cycle_log_stop(struct cycle_log *log)
{
	kvfree(log->at);
}

void cycle_log_add(struct cycle_log *log, struct cycle_entry entry)
{
	if (log->count < log->capacity)
		log->at[log->count++] = entry;
}

static struct cycle_log *log_of(struct kobject *kobj)
{
	struct media_nand *mn = dev_get_drvdata(kobj_to_dev(kobj));

	return &mn->cycles;
}

static ssize_t cycles_read(struct file *file, struct kobject *kobj, struct bin_attribute *attribute, char *buffer,
			   loff_t at, size_t count)
{
	struct cycle_log *log = log_of(kobj);

	return memory_read_from_buffer(buffer, count, &at, log->at, log->count * sizeof(*log->at));
}

static BIN_ATTR_RO(cycles, 0);

static struct bin_attribute *files[] = { &bin_attr_cycles, NULL };

static umode_t visible(struct kobject *kobj, struct bin_attribute *attribute, int index)
{
	return log_of(kobj)->at ? attribute->attr.mode : 0;
}

const struct attribute_group cycle_group = { .bin_attrs = files, .is_bin_visible = visible };
