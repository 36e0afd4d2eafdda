// SPDX-License-Identifier: GPL-2.0-only
/* A flash that another driver has written, page by page, and our mount of it. */
#include "other_bed.h"

struct bed bed_of(const struct y2_geometry *geometry, bool inband)
{
	struct bed bed = { .flash = ram_flash_new(geometry, 1),
			   .options = { .no_checkpoint = true, .inband_tags = inband } };

	bed.at.raw = raw_of(bed.flash, inband);
	return bed;
}

void bed_mount(struct bed *bed)
{
	if (bed->fs)
		y2_abandon(bed->fs);
	bed->fs = must_mount(bed->flash, &bed->options);
	CHECK_EQUAL(0, (u64)y2_verify(bed->fs));
}

void bed_end(struct bed *bed)
{
	if (bed->fs)
		y2_abandon(bed->fs);
	ram_flash_free(bed->flash);
}

struct raw_header file_header(const char *name, u64 size, bool shrink)
{
	struct raw_header header = { .type = RAW_FILE, .parent = 1, .mode = S_IFREG | 0644, .size = size,
				     .shrink = shrink };

	strcpy(header.name, name);
	return header;
}

void put_file(struct bed *bed, u32 id, const char *name, u64 size)
{
	const struct raw_header header = file_header(name, size, false);

	raw_put_header(&bed->at, id, &header);
}

u8 byte_at(struct bed *bed, const char *name, u64 offset)
{
	u8 data = 0xee;

	CHECK_EQUAL(1, (u64)y2_read(bed->fs, y2_object_resolve(must_find(bed->fs, bed->fs->root, name)), offset, &data,
				    1));
	return data;
}

u8 other_byte(struct other *other, const char *name, u64 offset)
{
	u8 data = 0xee;

	other_read(other, other_find(other, 1, name), offset, &data, 1);
	return data;
}

void put_word(u8 *to, u32 word)
{
	for (u32 i = 0; i < 4; i++)
		to[i] = (u8)(word >> 8 * i);
}
