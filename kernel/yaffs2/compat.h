/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences for a file system between the supported kernels, 6.1 and 6.12. The rest is written
 * for 6.12.
 */
#ifndef Y2_COMPAT_H
#define Y2_COMPAT_H

#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/version.h>

/* The ID map of a mount: struct mnt_idmap since 6.3 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
typedef struct mnt_idmap y2_idmap;
#else
typedef struct user_namespace y2_idmap;
#endif

/*
 * The types that write_begin(), write_end() and write_cache_pages() pass: folios since 6.12, 6.12
 * and 6.3
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
typedef struct folio y2_cached;

static inline struct folio *y2_folio(y2_cached *cached)
{
	return cached;
}

static inline y2_cached *y2_cached_of(struct folio *folio)
{
	return folio;
}

/* Returns a locked folio with a reference; an error pointer if there is no memory */
static inline struct folio *y2_grab_folio(struct address_space *mapping, pgoff_t index)
{
	return __filemap_get_folio(mapping, index, FGP_WRITEBEGIN, mapping_gfp_mask(mapping));
}
#else
typedef struct page y2_cached;

static inline struct folio *y2_folio(y2_cached *cached)
{
	return page_folio(cached);
}

static inline y2_cached *y2_cached_of(struct folio *folio)
{
	return &folio->page;
}

static inline struct folio *y2_grab_folio(struct address_space *mapping, pgoff_t index)
{
	struct page *page = grab_cache_page_write_begin(mapping, index);

	return page ? page_folio(page) : ERR_PTR(-ENOMEM);
}
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define y2_fill_attributes(idmap, wanted, inode, stat) generic_fillattr(idmap, wanted, inode, stat)
#else
#define y2_fill_attributes(idmap, wanted, inode, stat) generic_fillattr(idmap, inode, stat)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define filemap_splice_read generic_file_splice_read
#endif

/*
 * Accessors for an inode's times exist since 6.7; some 6.1 kernels have a part of them, under the
 * same names
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define Y2_TIME(which) \
	static inline time64_t y2_get_##which(const struct inode *inode) \
	{ \
		return inode->i_##which.tv_sec; \
	} \
	static inline void y2_set_##which(struct inode *inode, time64_t sec, long nsec) \
	{ \
		inode->i_##which = (struct timespec64) { .tv_sec = sec, .tv_nsec = nsec }; \
	}

Y2_TIME(atime)
Y2_TIME(mtime)
Y2_TIME(ctime)

#define inode_get_atime_sec y2_get_atime
#define inode_get_mtime_sec y2_get_mtime
#define inode_get_ctime_sec y2_get_ctime
#define inode_set_atime y2_set_atime
#define inode_set_mtime y2_set_mtime
#define inode_set_ctime y2_set_ctime
#define inode_set_ctime_current(inode) ((inode)->i_ctime = current_time(inode))
#define inode_set_mtime_to_ts(inode, time) ((inode)->i_mtime = (time))
#endif

#endif
