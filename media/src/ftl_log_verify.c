// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Consistency checks of a log-block layer's tables, with each other and with the dies. No number is trusted unchecked.
 */
#include "ftl_log.h"

static const char *verify_free(const struct fb_log_tables *t)
{
	u32 group = t->free->first;
	u32 i;

	for (i = 0; i < t->free->count; i++) {
		if (group >= t->group_count)
			return "the list of free groups leads out of the table";
		if (t->groups[group].user != FB_GROUP_FREE || t->groups[group].programmed_pages)
			return "a group that is in use is listed as free";
		if (i + 1 == t->free->count && group != t->free->last)
			return "the list of free groups is torn";
		group = t->groups[group].next_free;
	}
	return t->free->count && group != FB_NO_GROUP ? "the list of free groups has no end" : NULL;
}

static const char *verify_users(const struct fb_log_tables *t)
{
	u32 used = 0;
	u32 i;

	for (i = 0; i < t->logical_groups; i++) {
		if (!t->map[i])
			continue;
		if (t->map[i] - FB_MAPPED_GROUP >= t->group_count)
			return "a group is mapped beyond the dies";
		if (t->groups[t->map[i] - FB_MAPPED_GROUP].user != FB_GROUP_DATA + i)
			return "a group is mapped to one that is not its own";
		used++;
	}
	for (i = 0; i < t->log_count; i++) {
		if (t->logs[i].group == FB_NO_GROUP)
			continue;
		if (t->logs[i].group >= t->group_count)
			return "a log lies beyond the dies";
		if (t->groups[t->logs[i].group].user != FB_GROUP_LOG + i)
			return "a log lies in a group that is not its own";
		used++;
	}
	used += t->free->merging != FB_NO_GROUP;
	return used + t->free->count != t->group_count ? "a group is neither free nor in use" : NULL;
}

/* A log in order has each page of its group at its own offset */
static const char *verify_order(const struct fb_log_tables *t, u32 log)
{
	const struct fb_log *l = &t->logs[log];
	u32 offset;

	for (offset = 0; offset < t->groups[l->group].programmed_pages; offset++)
		if (t->owner[fb_log_slot(t, log, offset)] !=
		    l->logical_group * t->pages_per_group + offset + FB_LOGGED)
			return "a log is not in order";
	return NULL;
}

/* A merge in steps writes to a group without an owner; the merged group has no log of its own */
static const char *verify_steps(const struct fb_medium *m, const struct fb_log_tables *t)
{
	const struct fb_free_groups *f = t->free;
	u32 i;

	if (f->emptying_log != FB_NO_LOG &&
	    (!m->params.merge_step_pages || f->emptying_log < fb_log_first_shared(&m->params) ||
	     f->emptying_log >= t->log_count || f->emptying_log == f->newest_log || !fb_log_in_use(t, f->emptying_log)))
		return "a log is being emptied that is none";
	if (f->emptying_offset > t->pages_per_group || f->groups_left > t->logical_groups)
		return "more of a log is to be emptied than there is";
	if (f->closing && (!m->params.merge_step_pages || m->params.ftl != FB_FTL_FAST || f->closing != FB_CLOSING ||
			   !fb_log_in_use(t, 0)))
		return "a log is being completed that is none";
	if (f->merging == FB_NO_GROUP)
		return NULL;
	if (!m->params.merge_step_pages || f->merging >= t->logical_groups || f->merging_into >= t->group_count)
		return "a group is being merged that does not exist";
	if (t->groups[f->merging_into].user != FB_GROUP_DATA + f->merging ||
	    t->map[f->merging] == f->merging_into + FB_MAPPED_GROUP)
		return "a group is being merged into one that is in use";
	for (i = 0; i < t->log_count; i++)
		if (fb_log_in_use(t, i) && t->logs[i].logical_group == f->merging)
			return "a group that is being merged has a log of its own";
	return NULL;
}

/*
 * BAST: a log belongs to a group, or is shared. FAST: only the first log belongs to a group, and is in order; the
 * others are filled in turn.
 */
static const char *verify_logs(const struct fb_medium *m, const struct fb_log_tables *t)
{
	bool fast = m->params.ftl == FB_FTL_FAST;
	u32 first_shared = fb_log_first_shared(&m->params);
	u32 newest = t->free->newest_log;
	u32 i;

	for (i = 0; i < t->log_count; i++) {
		const struct fb_log *log = &t->logs[i];
		const char *fault;

		if (log->group == FB_NO_GROUP)
			continue;
		if (t->groups[log->group].programmed_pages > t->pages_per_group)
			return "a log has more programmed pages than pages";
		if (!t->groups[log->group].programmed_pages)
			return "a log was begun and has no page";
		if (i >= first_shared) {
			if (log->logical_group != FB_NO_GROUP)
				return "a shared log belongs to a group";
			continue;
		}
		if (log->logical_group >= t->logical_groups)
			return "a log belongs to a group that does not exist";
		if (fast && !log->in_order)
			return "the sequential log is not in order";
		fault = log->in_order ? verify_order(t, i) : NULL;
		if (fault)
			return fault;
	}
	if (newest == FB_NO_LOG)
		return NULL;
	if (newest < first_shared || newest >= t->log_count || t->logs[newest].group == FB_NO_GROUP)
		return "the newest log does not exist";
	return NULL;
}

static const char *verify_logged(const struct fb_log_tables *t)
{
	u32 pages = t->logical_groups * t->pages_per_group;
	u32 page, slot;

	for (slot = 0; slot < t->log_count * t->pages_per_group; slot++)
		if (t->owner[slot] > pages)
			return "a log has a page that does not exist";
	for (page = 0; page < pages; page++) {
		const struct fb_log *log;

		if (!t->latest[page])
			continue;
		slot = t->latest[page] - FB_IN_LOG;
		if (slot >= t->log_count * t->pages_per_group)
			return "a page is said to be beyond the logs";
		log = &t->logs[slot / t->pages_per_group];
		if (log->group == FB_NO_GROUP ||
		    slot % t->pages_per_group >= t->groups[log->group].programmed_pages)
			return "a page is said to be where nothing was programmed";
		if (t->owner[slot] != page + FB_LOGGED)
			return "a page is said to be in a slot that is not its own";
		if (log->logical_group != FB_NO_GROUP && log->logical_group != page / t->pages_per_group)
			return "a page is in a log of another group";
	}
	return NULL;
}

/* Each block of a group is a distinct good block of its die. Blocks in no group are bad, or erased and spare. */
static const char *verify_blocks(const struct fb_medium *m, const struct fb_log_tables *t)
{
	u32 layer_blocks = t->group_count * m->params.blocks_per_group;
	u32 die_blocks = m->flash.nand.layout.blocks_per_die;
	u32 die, i;

	for (die = 0; die < m->params.dies; die++) {
		const u32 *block_at = t->block_at + die * layer_blocks;
		const u32 *layer_block = t->layer_block + die * die_blocks;
		u32 used = 0;

		for (i = 0; i < layer_blocks; i++)
			if (block_at[i] >= die_blocks || layer_block[block_at[i]] != i + FB_IN_GROUP)
				return "a block of a group lies in a block that is not its own";
		for (i = 0; i < die_blocks; i++) {
			const struct fb_nand_block *block = fb_nand_block(&m->flash.nand, die, i);

			used += layer_block[i] != 0;
			if (layer_block[i] ? block->flags & FB_BLOCK_BAD :
					     block->programmed_pages && !(block->flags & FB_BLOCK_BAD))
				return "a group has a bad block, or a spare block is not erased";
		}
		if (used != layer_blocks)
			return "a block is said to be in a group that does not have it";
	}
	return NULL;
}

static const char *verify_on_dies(const struct fb_medium *m, const struct fb_log_tables *t)
{
	u32 blocks = m->params.blocks_per_group;
	u32 group, die, i;

	for (group = 0; group < t->group_count; group++) {
		u32 programmed_pages = 0;

		for (die = 0; die < m->params.dies; die++)
			for (i = group * blocks; i < (group + 1) * blocks; i++) {
				u32 block = t->block_at[die * t->group_count * blocks + i];

				programmed_pages += fb_nand_block(&m->flash.nand, die, block)->programmed_pages;
			}
		if (programmed_pages != t->groups[group].programmed_pages)
			return "a group has other pages programmed than its dies say";
	}
	return NULL;
}

static const char *verify_known(const struct fb_medium *m, const struct fb_log_tables *t)
{
	u32 i, j;

	for (i = 0; i < m->params.known_groups && t->known[i]; i++) {
		if (t->known[i] - FB_KNOWN >= t->logical_groups)
			return "a group is known that does not exist";
		for (j = 0; j < i; j++)
			if (t->known[i] == t->known[j])
				return "a group is known twice";
	}
	for (; i < m->params.known_groups; i++)
		if (t->known[i])
			return "the groups that are known have a gap";
	return NULL;
}

const char *fb_log_verify(const struct fb_medium *m)
{
	struct fb_log_tables t = fb_log_tables(m);
	const char *fault = verify_free(&t);

	if (!fault)
		fault = verify_steps(m, &t);
	if (!fault)
		fault = verify_users(&t);
	if (!fault)
		fault = verify_logs(m, &t);
	if (!fault)
		fault = verify_logged(&t);
	if (!fault)
		fault = verify_blocks(m, &t);
	if (!fault)
		fault = verify_on_dies(m, &t);
	if (!fault)
		fault = verify_known(m, &t);
	return fault;
}
