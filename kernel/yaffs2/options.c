// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mount options: parsing and showing, under the names that users of YAFFS know; deferred-erase is
 * ours.
 */
#include <linux/seq_file.h>

#include "vfs.h"

enum option {
	INBAND_TAGS,
	TAGS_ECC_ON,
	TAGS_ECC_OFF,
	NO_CHECKPOINT,
	NO_CHECKPOINT_READ,
	NO_CHECKPOINT_WRITE,
	NO_CACHE,
	EMPTY_LOST_AND_FOUND,
	DISABLE_BACKGROUND,
	DISABLE_SUMMARY,
	CHECKPOINT_ON_SYNC,
	DEFERRED_ERASE,
};

const struct fs_parameter_spec y2_parameters[] = {
	fsparam_flag("inband-tags", INBAND_TAGS),
	fsparam_flag("tags-ecc-on", TAGS_ECC_ON),
	fsparam_flag("tags-ecc-off", TAGS_ECC_OFF),
	fsparam_flag("no-checkpoint", NO_CHECKPOINT),
	fsparam_flag("no-checkpoint-read", NO_CHECKPOINT_READ),
	fsparam_flag("no-checkpoint-write", NO_CHECKPOINT_WRITE),
	fsparam_flag("no-cache", NO_CACHE),
	fsparam_flag("empty-lost-and-found", EMPTY_LOST_AND_FOUND),
	fsparam_flag("empty-lost-and-found-enable", EMPTY_LOST_AND_FOUND),
	fsparam_flag("disable-background", DISABLE_BACKGROUND),
	fsparam_flag("disable-summary", DISABLE_SUMMARY),
	fsparam_flag("checkpoint-on-sync", CHECKPOINT_ON_SYNC),
	fsparam_flag("deferred-erase", DEFERRED_ERASE),
	{ }
};

int y2_parse_parameter(struct fs_context *fc, struct fs_parameter *param)
{
	struct y2_vfs_options *options = fc->fs_private;
	struct fs_parse_result result;
	int option = fs_parse(fc, y2_parameters, param, &result);

	switch (option) {
	case INBAND_TAGS:
		options->core.inband_tags = true;
		break;
	case TAGS_ECC_ON:
		options->core.no_tags_ecc = false;
		break;
	case TAGS_ECC_OFF:
		options->core.no_tags_ecc = true;
		break;
	case NO_CHECKPOINT:
		options->core.no_checkpoint = true;
		break;
	case NO_CHECKPOINT_READ:
		options->core.no_checkpoint_read = true;
		break;
	case NO_CHECKPOINT_WRITE:
		options->core.no_checkpoint_write = true;
		break;
	case NO_CACHE:
		options->write_through = true;
		break;
	case EMPTY_LOST_AND_FOUND:
		options->core.empty_lost_and_found = true;
		break;
	case DISABLE_BACKGROUND:
		options->no_background = true;
		break;
	case DISABLE_SUMMARY:
		options->core.no_summary = true;
		break;
	case CHECKPOINT_ON_SYNC:
		options->checkpoint_on_sync = true;
		break;
	case DEFERRED_ERASE:
		options->core.deferred_erase = true;
		break;
	default:
		return option;
	}
	return 0;
}

/* Applies the changes of a remount. mount(8) may repeat the current options */
int y2_change_options(struct y2_vfs_options *options, const struct y2_vfs_options *more)
{
	const struct y2_options *is = &options->core, *asked = &more->core;

	if ((asked->inband_tags && !is->inband_tags) || (asked->no_tags_ecc && !is->no_tags_ecc) ||
	    (asked->no_checkpoint && !is->no_checkpoint) ||
	    (asked->no_checkpoint_read && !is->no_checkpoint_read) ||
	    (asked->no_checkpoint_write && !is->no_checkpoint_write) ||
	    (asked->no_summary && !is->no_summary) ||
	    (asked->empty_lost_and_found && !is->empty_lost_and_found) ||
	    (asked->deferred_erase && !is->deferred_erase))
		return -EINVAL;
	options->write_through |= more->write_through;
	options->no_background |= more->no_background;
	options->checkpoint_on_sync |= more->checkpoint_on_sync;
	return 0;
}

int y2_show_options(struct seq_file *m, struct dentry *root)
{
	const struct y2_vfs_options *options = &y2_sb(root->d_sb)->options;

	if (options->core.inband_tags)
		seq_puts(m, ",inband-tags");
	if (options->core.no_tags_ecc)
		seq_puts(m, ",tags-ecc-off");
	if (options->core.no_checkpoint)
		seq_puts(m, ",no-checkpoint");
	if (options->core.no_checkpoint_read)
		seq_puts(m, ",no-checkpoint-read");
	if (options->core.no_checkpoint_write)
		seq_puts(m, ",no-checkpoint-write");
	if (options->write_through)
		seq_puts(m, ",no-cache");
	if (options->core.empty_lost_and_found)
		seq_puts(m, ",empty-lost-and-found");
	if (options->no_background)
		seq_puts(m, ",disable-background");
	if (options->core.no_summary)
		seq_puts(m, ",disable-summary");
	if (options->checkpoint_on_sync)
		seq_puts(m, ",checkpoint-on-sync");
	if (options->core.deferred_erase)
		seq_puts(m, ",deferred-erase");
	return 0;
}
