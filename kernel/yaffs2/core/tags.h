/* SPDX-License-Identifier: GPL-2.0-only */
/* The tags of a chunk, and their layout in the spare area. */
#ifndef Y2_TAGS_H
#define Y2_TAGS_H

#include "flash.h"
#include "format.h"

struct y2_tags {
	bool used;		/* false: the page is erased */
	bool marked; /* deleted by a mark on the page: only pages of 512 bytes have marks */
	/* a bit of our mark is set, but not the deleting one: it is torn, or wrong */
	bool half_marked;
	/* not marked, but the unused bit is zero: of another driver, or ours half erased */
	bool unused_clear;
	/* 0 to 3, one more than that of the replaced chunk; pages of 512 bytes only */
	u8 serial;
	u32 seq;
	u32 object;
	u32 chunk;		/* 0: header */
	u32 bytes;		/* of a data chunk */

	/* Header fields, so that a scan need not read the header */
	bool extra;
	bool shrink, shadows;
	u8 type;
	u32 parent;
	u32 equivalent;
	u64 size;
};

struct y2_tags_ecc {
	u32 column, line, line_complement;
};

void y2_tags_ecc(const u8 *tags, struct y2_tags_ecc *ecc);

/* Packs Y2_TAGS_TOTAL_BYTES to out, or Y2_TAGS_BYTES without ECC */
void y2_tags_pack(const struct y2_tags *tags, bool with_ecc, u8 *out);
enum y2_read y2_tags_unpack(const u8 *in, bool with_ecc, struct y2_tags *tags);
/* Unpacks tags of the other byte order; false: they are none */
bool y2_tags_unpack_swapped(const u8 *in, bool with_ecc, struct y2_tags *tags);
bool y2_tags_yaffs1_unpack_swapped(const u8 *in, struct y2_tags *tags);

/* Of pages of 512 bytes: Y2_TAGS_YAFFS1_BYTES */
void y2_tags_yaffs1_pack(const struct y2_tags *tags, u8 *out);
void y2_tags_yaffs1_mark(u8 *out);
enum y2_read y2_tags_yaffs1_unpack(const u8 *in, struct y2_tags *tags);

/* The three words without sequence number, as in a summary */
void y2_tags_words(const struct y2_tags *tags, u32 *object, u32 *chunk, u32 *bytes);
void y2_tags_from_words(u32 seq, u32 object, u32 chunk, u32 bytes, struct y2_tags *tags);

#endif
