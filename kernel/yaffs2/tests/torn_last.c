// SPDX-License-Identifier: GPL-2.0-only
/* Which torn page a mount cannot tell from a sound one (torn_last.h). */
#include "torn_last.h"
#include "raw.h"

static u32 block_of(const struct ram_flash *flash, size_t index)
{
	return (u32)(index / flash->geometry.chunks_per_block);
}

static u32 page_of(const struct ram_flash *flash, size_t index)
{
	return (u32)(index % flash->geometry.chunks_per_block);
}

/* Something that is not deleted, and that a mount could take for the chunk, lies elsewhere */
static bool has_another(struct ram_flash *flash, const struct raw_tags *wanted)
{
	size_t pages = (size_t)flash->geometry.blocks * flash->geometry.chunks_per_block;
	struct raw raw = raw_of(flash, false);

	for (size_t i = 0; i < pages; i++) {
		struct raw_tags tags;

		if (i == flash->torn || flash->bad[block_of(flash, i)] ||
		    !raw_read(&raw, block_of(flash, i), page_of(flash, i), NULL, &tags))
			continue;
		if (!tags.deleted && tags.object == wanted->object && tags.chunk == wanted->chunk)
			return true;
	}
	return false;
}

bool torn_last_is_there(struct ram_flash *at_cut)
{
	const struct y2_geometry *geometry = &at_cut->geometry;
	struct raw raw = raw_of(at_cut, false);
	struct raw_tags tags;
	u32 block, page;
	u8 data[512];

	if (geometry->page_bytes != sizeof(data) || at_cut->torn == RAM_NO_PAGE)
		return false;
	block = block_of(at_cut, at_cut->torn);
	page = page_of(at_cut, at_cut->torn);
	if (page + 1 != geometry->chunks_per_block ||
	    ram_flash_ops.read(at_cut, block, page, data, NULL) != Y2_READ_FIXED ||
	    !memcmp(data, at_cut->meant, sizeof(data)))
		return false;
	return raw_read(&raw, block, page, NULL, &tags) && !tags.deleted && !has_another(at_cut, &tags);
}

void torn_last_take_out(struct ram_flash *at_cut)
{
	struct raw raw = raw_of(at_cut, false);

	at_cut->fail_program_per_million = 0;
	CHECK(!raw_mark(&raw, block_of(at_cut, at_cut->torn), page_of(at_cut, at_cut->torn)));
}
