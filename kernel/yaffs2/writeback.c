// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write-back of folios. A chunk larger than a folio, or across two folios, is programmed once, not
 * once per folio. Consecutive folios are therefore gathered up to an end shared with a chunk, or up
 * to a maximum.
 */
#include <linux/pagemap.h>
#include <linux/writeback.h>

#include "vfs.h"

#define BATCH_MAX	16u	/* folios, if chunks do not end with them; assumed */

/* Copies, so that nobody waits for them: a folio changed meanwhile becomes dirty again */
struct y2_write_batch {
	struct inode *inode;
	u8 *data;
	loff_t start;
	u32 max;		/* bytes */
	u32 bytes, reserved, folios;
	struct folio *folio[BATCH_MAX];
	int err;
};

static u32 y2_batch_bytes(u32 chunk_bytes)
{
	if (PAGE_SIZE % chunk_bytes == 0)
		return PAGE_SIZE;
	if (chunk_bytes % PAGE_SIZE == 0 && chunk_bytes / PAGE_SIZE <= BATCH_MAX)
		return chunk_bytes;
	return BATCH_MAX * PAGE_SIZE;
}

static int y2_write_back(struct inode *inode, loff_t start, const u8 *from, u32 bytes, u32 reserved)
{
	struct y2_sb *sbi = y2_sb(inode->i_sb);
	struct y2_object *obj = y2_object(inode);
	int got;

	y2_lock(sbi);
	got = y2_write_reserved(sbi->fs, obj, (u64)start, from, bytes, reserved);
	/* Keep the mtime of the user's write; write-back does not change it */
	obj->mtime = (u32)inode_get_mtime_sec(inode);
	obj->ctime = (u32)inode_get_ctime_sec(inode);
	y2_unlock(sbi);
	if (got == (int)bytes)
		return 0;
	if (got >= 0)
		got = -ENOSPC;
	mapping_set_error(inode->i_mapping, got);
	return got;
}

static void y2_write_batch(struct y2_write_batch *g)
{
	int err;

	if (!g->bytes)
		return;
	err = y2_write_back(g->inode, g->start, g->data, g->bytes, g->reserved);
	if (err)
		g->err = err;
	for (u32 i = 0; i < g->folios; i++)
		folio_end_writeback(g->folio[i]);
	g->bytes = g->reserved = g->folios = 0;
}

static void y2_batch_add(struct y2_write_batch *g, struct folio *folio, u32 length, u32 reserved)
{
	const u8 *from = kmap_local_folio(folio, 0);

	if (!g->bytes)
		g->start = folio_pos(folio);
	memcpy(g->data + g->bytes, from, length);
	kunmap_local(from);
	g->folio[g->folios++] = folio;
	g->bytes += length;
	g->reserved += reserved;
}

static int y2_write_folio(struct y2_write_batch *g, struct folio *folio, u32 length)
{
	u32 reserved = y2_take_reservation(y2_sb(g->inode->i_sb), folio);
	loff_t end = folio_pos(folio) + length;
	const u8 *from;
	int err;

	folio_start_writeback(folio);
	if (g->max > PAGE_SIZE) {
		y2_batch_add(g, folio, length, reserved);
		folio_unlock(folio);
		if (length < PAGE_SIZE || !(end & (g->max - 1)))
			y2_write_batch(g);
		return g->err;
	}
	from = kmap_local_folio(folio, 0);
	err = y2_write_back(g->inode, folio_pos(folio), from, length, reserved);
	kunmap_local(from);
	folio_unlock(folio);
	folio_end_writeback(folio);
	return err;
}

static int y2_write_page(y2_cached *cached, struct writeback_control *wbc, void *data)
{
	struct folio *folio = y2_folio(cached);
	struct y2_write_batch *g = data;
	loff_t left = i_size_read(g->inode) - folio_pos(folio);
	u32 length = (u32)min_t(loff_t, left, PAGE_SIZE);

	if (left <= 0) {
		folio_unlock(folio);
		return 0;
	}
	if (length < PAGE_SIZE)
		folio_zero_segment(folio, length, PAGE_SIZE);
	if (g->bytes && folio_pos(folio) != g->start + g->bytes)
		y2_write_batch(g);
	return y2_write_folio(g, folio, length);
}

int y2_write_pages(struct address_space *mapping, struct writeback_control *wbc)
{
	struct inode *inode = mapping->host;
	struct y2_write_batch g = { .inode = inode,
				 .max = y2_batch_bytes(y2_sb(inode->i_sb)->fs->chunk_bytes) };
	int err;

	if (g.max > PAGE_SIZE) {
		g.data = kvmalloc(g.max, GFP_NOFS);
		if (!g.data)
			return -ENOMEM;
	}
	err = write_cache_pages(mapping, wbc, y2_write_page, &g);
	y2_write_batch(&g);
	kvfree(g.data);
	return err ? err : g.err;
}
