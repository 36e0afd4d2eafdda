/* SPDX-License-Identifier: GPL-2.0-only */
/* A flash that another driver has written, page by page, and our mount of it. */
#ifndef Y2_OTHER_BED_H
#define Y2_OTHER_BED_H

#include "other.h"

#define FILE_ID	0x101u

struct bed {
	struct ram_flash *flash;
	struct raw_cursor at;
	struct y2_options options;
	struct y2_fs *fs;
};

struct bed bed_of(const struct y2_geometry *geometry, bool inband);
void bed_mount(struct bed *bed);
void bed_end(struct bed *bed);
struct raw_header file_header(const char *name, u64 size, bool shrink);
void put_file(struct bed *bed, u32 id, const char *name, u64 size);
u8 byte_at(struct bed *bed, const char *name, u64 offset);
u8 other_byte(struct other *other, const char *name, u64 offset);
void put_word(u8 *to, u32 word);

#endif
