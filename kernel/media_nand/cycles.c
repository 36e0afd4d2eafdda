// SPDX-License-Identifier: GPL-2.0-only
/* See cycles.h */
#include <linux/fs.h>
#include <linux/mm.h>

#include "media_nand.h"

static void cycle_log_free(void *entries)
{
	kvfree(entries);
}

int cycle_log_init(struct device *dev, struct cycle_log *log, unsigned int capacity)
{
	log->capacity = capacity;
	if (!capacity)
		return 0;
	log->at = kvcalloc(capacity, sizeof(*log->at), GFP_KERNEL);
	return log->at ? devm_add_action_or_reset(dev, cycle_log_free, log->at) : -ENOMEM;
}

void cycle_log_add(struct cycle_log *log, struct cycle_entry entry)
{
	if (log->count < log->capacity)
		log->at[log->count++] = entry;
}

static ssize_t media_nand_cycles_read(struct file *file, char __user *buffer, size_t count,
				      loff_t *at)
{
	const struct media_nand *mn = file->private_data;
	const struct cycle_log *log = &mn->cycles;

	return simple_read_from_buffer(buffer, count, at, log->at, log->count * sizeof(*log->at));
}

const struct file_operations media_nand_cycles_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = media_nand_cycles_read,
	.llseek = default_llseek,
};
