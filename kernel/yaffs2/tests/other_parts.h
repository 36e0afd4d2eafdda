/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the other driver share (other.h): its state in memory, and the calls from one file to another. */
#ifndef Y2_OTHER_PARTS_H
#define Y2_OTHER_PARTS_H

#include "other.h"

#define OTHER_OBJECTS	512
#define OTHER_CHUNKS	512		/* of a file */
#define OTHER_ROOT	1u
#define OTHER_NO_LIMIT	(~0ull)
#define OTHER_TOP_BITS	0xf0000000u

struct other_object {
	u32 id;				/* 0: free */
	struct raw_header is;		/* size: as it is now */
	u32 header, chunk[OTHER_CHUNKS];	/* flash chunks + 1 */
	u32 max;			/* no chunk is beyond */
	u8 serial;
	bool seen, behind, shadowed, dead;
	u64 limit;
};

struct other_block {
	u32 seq, written, live;
	bool shrink;
};

struct other {
	struct raw raw;
	bool yaffs1, summaries, keeps_size, off;
	u32 pages, data_pages;
	struct other_block *blocks;
	struct other_object objects[OTHER_OBJECTS];
	u32 at, page, seq, next_id;	/* at: the block that is written, or no block */
	u8 *summary, *buffer;
	struct other_counts counts;
};

struct other_header_change {
	u32 parent, shadows;
	bool shrink;
};

/* other_log.c. A chunk of the flash is given as its number + 1; 0: none */
struct other_object *other_object(struct other *other, u32 id);
struct other_object *other_make(struct other *other, u32 id);	/* the one there is, or a new one */
void other_erase(struct other *other, u32 block);
u32 other_word(const u8 *from);
u32 other_summary_sum(const struct other *other, const u8 *entries);
void other_replace(struct other *other, u32 *chunk_at, u32 with);
void other_write_header(struct other *other, struct other_object *obj, struct other_header_change how);
bool other_read_page(struct other *other, u32 chunk, u8 *data, struct raw_tags *tags);
u8 other_serial_after(struct other *other, u32 chunk);
void other_write_data(struct other *other, struct other_object *obj, u32 k, const u8 *data, u32 bytes);
void other_read_data(struct other *other, const struct other_object *obj, u32 k, u8 *data);
int other_make_room(struct other *other);
int other_result(const struct other *other);

/* other_scan.c */
void other_drop(struct other *other, struct other_object *obj);

/* other.c */
struct other_object *other_entry(struct other *other, u32 parent, const char *name);

#endif
