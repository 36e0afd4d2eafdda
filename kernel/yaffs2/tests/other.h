/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Another driver of the same flash, as those of 2010 and of today behave towards us. It is no good file system: it
 * holds all in memory, knows no bad pages, and goes wrong where they do. What it does that ours does not:
 *
 * - A truncation writes the last chunk anew, then a header without shrink flag; the flag comes with the header before
 *   a hole.
 * - It trusts n_bytes and bytes of a last chunk, whatever the size of the file is.
 * - A rename over another object writes a header that shadows that one, then removes it: if links lead to it, it
 *   takes the name of one of them. Of shadows it believes only those of objects of which it knows nothing newer.
 * - It goes on with a block that it finds half written, and leaves gaps in the summary; or it knows no summaries.
 * - It copies headers without flag and shadow, and data as it lies there. Before March 2010 the copy keeps the size of
 *   the header that it copies, even if the file has grown since.
 */
#ifndef Y2_OTHER_H
#define Y2_OTHER_H

#include "model.h"
#include "raw.h"

struct other;

/* The driver of which month; each knows what the ones before it know */
enum other_driver {
	OTHER_FEBRUARY_2010,
	OTHER_JUNE_2010,	/* a copied header gets the size that the file has */
	OTHER_TODAY,		/* knows summaries, as those since July 2010 do */
};

/* inband: where the tags are */
struct other *other_mount(struct ram_flash *flash, bool inband, enum other_driver driver);
/* Headers that are behind are written; with power off, only the memory goes */
void other_unmount(struct other *other);

/* Object numbers; 0: there is none of this name */
u32 other_find(struct other *other, u32 parent, const char *name);
u64 other_size(struct other *other, u32 id);
void other_read(struct other *other, u32 id, u64 offset, u8 *to, u32 length);

/* 0, -ENOSPC before anything has been done, or -EIO when the power is off */
int other_create(struct other *other, u32 parent, const char *name, const struct raw_header *how);
int other_write(struct other *other, u32 id, u64 offset, const u8 *from, u32 length);
int other_truncate(struct other *other, u32 id, u64 size);
int other_unlink(struct other *other, u32 parent, const char *name);
int other_rename(struct other *other, u32 from, const char *name, u32 to, const char *new_name);

/* Collects the block of the newest header of the object */
void other_collect(struct other *other, u32 id);

/* NULL: its tree is that of the model; else what differs */
const char *other_compare(struct other *other, const struct model *model);
struct other_counts {
	u64 gaps;	/* in summaries that it has written */
	u64 collected;	/* blocks */
};
struct other_counts other_counts(const struct other *other);

#endif
