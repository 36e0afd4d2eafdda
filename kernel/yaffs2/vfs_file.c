// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files through the page cache. When a folio becomes dirty, its chunks on flash are reserved at
 * once, so that write-back (writeback.c) cannot run out of space. The folio's private mark shows
 * the reservation.
 */
#include <linux/pagemap.h>
#include <linux/writeback.h>

#include "vfs.h"

#define HEADER_CHUNKS	8u	/* kept free beside all reservations, for headers */

static int y2_read_into(struct inode *inode, struct folio *folio)
{
	struct y2_sb *sbi = y2_sb(inode->i_sb);
	u8 *to = kmap_local_folio(folio, 0);
	int got;

	y2_lock(sbi);
	got = y2_read(sbi->fs, y2_object(inode), (u64)folio_pos(folio), to, PAGE_SIZE);
	y2_unlock(sbi);
	if (got >= 0)
		memset(to + got, 0, PAGE_SIZE - got);
	flush_dcache_folio(folio);
	kunmap_local(to);
	return got < 0 ? got : 0;
}

static int y2_read_folio(struct file *file, struct folio *folio)
{
	int err = y2_read_into(folio->mapping->host, folio);

	if (!err)
		folio_mark_uptodate(folio);
	folio_unlock(folio);
	return err;
}

static void y2_readahead(struct readahead_control *rac)
{
	struct folio *folio;

	while ((folio = readahead_folio(rac)))
		y2_read_folio(NULL, folio);
}

/* The folio is locked. It must not be dirtied without a reservation */
static int y2_reserve(struct inode *inode, struct folio *folio)
{
	struct y2_sb *sbi = y2_sb(inode->i_sb);
	int err = 0;

	if (folio_test_private(folio))
		return 0;
	y2_lock(sbi);
	if (sbi->fs->options.read_only)
		err = -EROFS;
	else if (y2_chunks_free(sbi->fs) < sbi->folio_chunks + HEADER_CHUNKS)
		err = -ENOSPC;
	else
		sbi->fs->reserved += sbi->folio_chunks;
	y2_unlock(sbi);
	if (!err)
		folio_attach_private(folio, (void *)1);
	return err;
}

u32 y2_take_reservation(struct y2_sb *sbi, struct folio *folio)
{
	if (!folio_test_private(folio))
		return 0;
	folio_detach_private(folio);
	return sbi->folio_chunks;
}

static void y2_invalidate_folio(struct folio *folio, size_t offset, size_t length)
{
	struct y2_sb *sbi = y2_sb(folio->mapping->host->i_sb);

	if (offset || length < folio_size(folio))
		return;
	y2_lock(sbi);
	sbi->fs->reserved -= y2_take_reservation(sbi, folio);
	y2_unlock(sbi);
}

/* Called for clean folios only, which have no reservation */
static bool y2_release_folio(struct folio *folio, gfp_t gfp)
{
	return false;
}

static int y2_begin_once(struct address_space *mapping, loff_t pos, unsigned int len,
			 y2_cached **cached)
{
	struct inode *inode = mapping->host;
	struct folio *folio = y2_grab_folio(mapping, pos >> PAGE_SHIFT);
	int err = 0;

	if (IS_ERR(folio))
		return PTR_ERR(folio);
	if (!folio_test_uptodate(folio) && len < PAGE_SIZE) {
		err = y2_read_into(inode, folio);
		if (!err)
			folio_mark_uptodate(folio);
	}
	if (!err)
		err = y2_reserve(inode, folio);
	if (err) {
		folio_unlock(folio);
		folio_put(folio);
		return err;
	}
	*cached = y2_cached_of(folio);
	return 0;
}

void y2_clean_cached_tail(struct inode *inode)
{
	loff_t end = i_size_read(inode);
	struct page *page;

	if (!offset_in_page(end))
		return;
	page = find_lock_page(inode->i_mapping, end >> PAGE_SHIFT);
	if (!page)
		return;
	zero_user_segment(page, offset_in_page(end), PAGE_SIZE);
	unlock_page(page);
	put_page(page);
}

/* Fills the folio from `at` on with the content of the flash */
static int y2_read_tail(struct inode *inode, struct folio *folio, size_t at)
{
	struct y2_sb *sbi = y2_sb(inode->i_sb);
	u8 *to = kmap_local_folio(folio, at);
	int got;

	y2_lock(sbi);
	got = y2_read(sbi->fs, y2_object(inode), (u64)folio_pos(folio) + at, to, PAGE_SIZE - at);
	y2_unlock(sbi);
	flush_dcache_folio(folio);
	kunmap_local(to);
	return got < 0 ? got : 0;
}

/*
 * Truncating the cache has zeroed the folio behind the end; if it becomes dirty, the zeros would be
 * written. The end is restored with the folio locked, because a concurrent write-back zeroes behind
 * the end too.
 */
void y2_restore_end(struct inode *inode, loff_t size)
{
	loff_t end = i_size_read(inode);
	struct page *page =
		offset_in_page(end) ? find_lock_page(inode->i_mapping, end >> PAGE_SHIFT) : NULL;
	int err = 0;

	if (page)
		err = y2_read_tail(inode, page_folio(page), offset_in_page(end));
	i_size_write(inode, size);
	if (!page)
		return;
	unlock_page(page);
	put_page(page);
	if (!err)
		return;
	/* Unwritten data of this page is lost, and fsync() reports it */
	mapping_set_error(inode->i_mapping, err);
	truncate_inode_pages_range(inode->i_mapping, round_down(end, PAGE_SIZE),
				   round_up(end, PAGE_SIZE) - 1);
}

static int y2_write_begin(struct file *file, struct address_space *mapping, loff_t pos,
			  unsigned int len, y2_cached **cached, void **fsdata)
{
	struct inode *inode = mapping->host;
	bool tried = false;
	int err;

	if (pos > i_size_read(inode))
		y2_clean_cached_tail(inode);
	do {
		err = y2_begin_once(mapping, pos, len, cached);
	} while (y2_try_again(inode->i_sb, err, &tried));
	return err;
}

static int y2_write_end(struct file *file, struct address_space *mapping, loff_t pos,
			unsigned int len, unsigned int copied, y2_cached *cached, void *fsdata)
{
	struct inode *inode = mapping->host;
	struct folio *folio = y2_folio(cached);

	if (copied < len && !folio_test_uptodate(folio))
		/* only a part of a folio whose rest is not up to date: start again */
		copied = 0;
	if (copied) {
		folio_mark_uptodate(folio);
		folio_mark_dirty(folio);
		if (pos + copied > i_size_read(inode)) {
			i_size_write(inode, pos + copied);
			mark_inode_dirty(inode);
		}
	} else if (!folio_test_dirty(folio)) {
		y2_invalidate_folio(folio, 0, folio_size(folio));
	}
	folio_unlock(folio);
	folio_put(folio);
	return (int)copied;
}

const struct address_space_operations y2_file_aops = {
	.read_folio = y2_read_folio,
	.readahead = y2_readahead,
	.write_begin = y2_write_begin,
	.write_end = y2_write_end,
	.writepages = y2_write_pages,
	.dirty_folio = filemap_dirty_folio,
	.invalidate_folio = y2_invalidate_folio,
	.release_folio = y2_release_folio,
	.migrate_folio = filemap_migrate_folio,
};

/* 0: the folio is locked and has its reservation. -EAGAIN: it no longer belongs to the file */
static int y2_lock_reserved(struct inode *inode, struct folio *folio)
{
	int err = -EAGAIN;

	folio_lock(folio);
	if (folio->mapping == inode->i_mapping && folio_pos(folio) < i_size_read(inode))
		err = y2_reserve(inode, folio);
	if (err)
		folio_unlock(folio);
	return err;
}

static vm_fault_t y2_page_mkwrite(struct vm_fault *vmf)
{
	struct folio *folio = page_folio(vmf->page);
	struct inode *inode = file_inode(vmf->vma->vm_file);
	bool tried = false;
	int err;

	sb_start_pagefault(inode->i_sb);
	file_update_time(vmf->vma->vm_file);
	do {
		err = y2_lock_reserved(inode, folio);
	} while (y2_try_again(inode->i_sb, err, &tried));
	if (!err) {
		folio_mark_dirty(folio);
		folio_wait_stable(folio);
	}
	sb_end_pagefault(inode->i_sb);
	if (!err)
		return VM_FAULT_LOCKED;
	return err == -EAGAIN ? VM_FAULT_NOPAGE : vmf_error(err);
}

static const struct vm_operations_struct y2_vm_ops = {
	.fault = filemap_fault, .map_pages = filemap_map_pages, .page_mkwrite = y2_page_mkwrite,
};

static int y2_mmap_file(struct file *file, struct vm_area_struct *vma)
{
	file_accessed(file);
	vma->vm_ops = &y2_vm_ops;
	return 0;
}

static ssize_t y2_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(iocb->ki_filp);
	ssize_t got = generic_file_write_iter(iocb, from);
	int err;

	if (got <= 0 || !y2_sb(inode->i_sb)->options.write_through)
		return got;
	err = filemap_write_and_wait_range(inode->i_mapping, iocb->ki_pos - got, iocb->ki_pos - 1);
	return err ? err : got;
}

/* Writes data, then the header with size and times; a directory's names are on flash already */
int y2_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct inode *inode = file->f_mapping->host;
	int err = file_write_and_wait_range(file, start, end);

	return err ? err : sync_inode_metadata(inode, 1);
}

const struct file_operations y2_file_ops = {
	.read_iter = generic_file_read_iter,
	.write_iter = y2_write_iter,
	.llseek = generic_file_llseek,
	.mmap = y2_mmap_file,
	.fsync = y2_fsync,
	.splice_read = filemap_splice_read,
	.splice_write = iter_file_splice_write,
};
