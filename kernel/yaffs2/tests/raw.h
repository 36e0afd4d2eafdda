/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages as another driver lays them on a flash, packed and unpacked by code of the tests' own: what the core and its
 * tests agree on must be the format, not a function that both call.
 */
#ifndef Y2_RAW_H
#define Y2_RAW_H

#include "test.h"

enum raw_type { RAW_FILE = 1, RAW_SYMLINK, RAW_DIRECTORY, RAW_HARDLINK, RAW_SPECIAL };

#define RAW_PARENT_DELETED	4u
#define RAW_SUMMARY_ID		16u
#define RAW_SEQ_CHECKPOINT	0x21u

struct raw {
	struct ram_flash *flash;
	bool inband;
	bool big_endian;
	bool by_option;		/* big-endian by an option, on a little-endian computer: see raw.c */
	u32 chunk_bytes;
};

/* The words as they lie in the tags; of pages of 512 bytes there is no seq, and the serial number counts */
struct raw_tags {
	u32 seq, object, chunk, bytes;
	u8 serial;
	bool deleted;
	bool wrong_ecc;		/* of pages of 512 bytes: another driver would report an error */
};

struct raw_header {
	u32 type, parent, mode, equivalent, shadows, rdev;
	u64 size;
	bool shrink;
	char name[256], alias[160];
};

struct raw raw_of(struct ram_flash *flash, bool inband);
static inline bool raw_is_yaffs1(const struct raw *raw)
{
	return raw->flash->geometry.page_bytes == 512;
}

int raw_write(struct raw *raw, u32 block, u32 page, const u8 *data, const struct raw_tags *tags);
/* False: the page is blank, or its tags or what was asked of its data cannot be read. data may be NULL */
bool raw_read(struct raw *raw, u32 block, u32 page, u8 *data, struct raw_tags *tags);
bool raw_is_blank(struct raw *raw, u32 block, u32 page);
/* Of pages of 512 bytes: the mark that others make, of one bit */
int raw_mark(struct raw *raw, u32 block, u32 page);

/* raw->chunk_bytes to page, all that is not told being as erased */
void raw_header_pack(const struct raw *raw, const struct raw_header *header, u8 *page);
bool raw_header_unpack(const u8 *page, struct raw_header *header);
/* The words of its tags, with what they tell of the header */
struct raw_tags raw_header_tags(u32 id, const struct raw_header *header);

/* Pages one after another, each block with the next sequence number */
struct raw_cursor {
	struct raw raw;
	u32 block, page, seq;
};

void raw_put(struct raw_cursor *at, struct raw_tags tags, const u8 *data);
void raw_put_header(struct raw_cursor *at, u32 id, const struct raw_header *header);
void raw_put_data(struct raw_cursor *at, u32 id, u32 k, u32 bytes, char what);
void raw_next_block(struct raw_cursor *at);

#endif
