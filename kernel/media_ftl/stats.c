// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device's directory in debugfs, media_ftl/:
 *
 *	layer		the core's counters of the flash, as far as a layer on real flash has them,
 *			and what the layer costs the host: "name:value" a line
 *	requests	the first requests, if they are recorded (request_log.h)
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "media_ftl.h"

static const enum fb_counter media_ftl_counters[] = {
	FB_COUNTER_flash_read_pages, FB_COUNTER_flash_programmed_pages,
	FB_COUNTER_flash_erased_blocks, FB_COUNTER_collections,
	FB_COUNTER_collection_moved_pages, FB_COUNTER_switch_merges,
	FB_COUNTER_partial_merges, FB_COUNTER_full_merges,
};

static int media_ftl_layer_show(struct seq_file *m, void *unused)
{
	const struct media_ftl *f = m->private;
	const struct sftl *layer = f->layer;
	const struct fb_counters *counters = fb_medium_counters(layer->medium);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(media_ftl_counters); i++)
		seq_printf(m, "%s:%llu\n", fb_counter_rule(media_ftl_counters[i])->name,
			   READ_ONCE(counters->by_index[media_ftl_counters[i]]));
	seq_printf(m, "memory_bytes:%llu\n", (u64)layer->bytes + 2 * layer->flash.page_bytes);
	seq_printf(m, "spare_blocks:%u\n", READ_ONCE(layer->spare_count));
	seq_printf(m, "bad_blocks:%llu\n", READ_ONCE(layer->statistics.bad_blocks));
	seq_printf(m, "lost_pages:%llu\n", READ_ONCE(layer->statistics.lost_pages));
	seq_printf(m, "merged_at_start:%llu\n", READ_ONCE(layer->statistics.merged_at_start));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(media_ftl_layer);

/**
 * media_ftl_add_files() - create the device's debugfs directory
 * @f: the device
 */
void media_ftl_add_files(struct media_ftl *f)
{
	f->files = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("layer", 0444, f->files, f, &media_ftl_layer_fops);
	if (f->log.at)
		debugfs_create_file("requests", 0600, f->files, &f->log, &request_log_fops);
}
