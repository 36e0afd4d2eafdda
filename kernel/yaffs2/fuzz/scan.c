// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounts a flash whose pages are made from the input, or a sound one with bytes overwritten: the mount and everything
 * after it must end, with errors or without, and leave the memory in agreement with itself.
 *
 * Input: a byte of options, then records. A record writes to a page: block, page, kind; kind 0: tags (their ECC is
 * added) and the beginning of a header; kind 1: bytes anywhere in it; kind 2: a data chunk. Pages have 1024 bytes or,
 * with one of the options, 512 and the tags of YAFFS1.
 */
#include "../tests/test.h"

static const struct y2_geometry geometries[] = {
	{ .page_bytes = 1024, .oob_bytes = 28, .chunks_per_block = 8, .blocks = 64 },
	{ .page_bytes = 512, .oob_bytes = 8, .chunks_per_block = 8, .blocks = 64 },
};

struct input {
	const u8 *at;
	size_t left;
};

static u8 take(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->at++;
}

static u32 take16(struct input *input)
{
	u32 low = take(input);

	return low | (u32)take(input) << 8;
}

/* A small tree, so that damage hits something */
static void sound_tree(struct ram_flash *flash, bool checkpoint)
{
	struct y2_fs *fs = must_mount(flash, NULL);
	struct y2_object *dir = must_create(fs, fs->root, "dir", S_IFDIR | 0755);
	struct y2_object *file = must_create(fs, dir, "file", S_IFREG | 0644);
	static const u8 data[5000];

	CHECK(y2_write(fs, file, 0, data, sizeof(data)) == sizeof(data));
	CHECK_EQUAL(0, (u64)y2_link(fs, file, fs->root, "link", 4));
	must_create(fs, fs->root, "soft", S_IFLNK | 0777);
	CHECK_EQUAL(0, (u64)y2_resize(fs, file, 1500));
	if (checkpoint)
		CHECK_EQUAL(0, (u64)y2_unmount(fs));
	else
		y2_abandon(fs);
}

static void put_yaffs1_tags(struct input *input, u8 *oob)
{
	u32 object = take16(input), kind = take(input);
	struct y2_tags tags = {
		.object = object | (kind & 3) << 16, .serial = kind >> 2 & 3, .bytes = take16(input) % 1024,
		.chunk = kind & 16 ? take16(input) << 4 : kind & 32 ? take(input) : 0,
	};

	y2_tags_yaffs1_pack(&tags, oob);
	if (kind & 64)
		oob[7] &= (u8)take(input);	/* a mark, or a part of one */
}

static void put_large_tags(struct input *input, u8 *oob)
{
	struct y2_tags tags = { .seq = 0x1000 + take(input), .object = take16(input) };
	u32 kind = take(input);

	if (kind & 0x80)
		tags.object |= (u32)take(input) << 16;
	if (kind & 1) {
		tags.extra = true;
		tags.type = take(input) & 15;
		tags.parent = take(input);
		tags.shrink = kind & 2;
		tags.shadows = kind & 4;
		tags.size = take16(input) * 100ull;
		tags.equivalent = take16(input);
	} else {
		tags.chunk = kind & 8 ? take16(input) << 12 | take16(input) : take(input);
		tags.bytes = take16(input);
	}
	y2_tags_pack(&tags, true, oob);
}

static void put_header(struct input *input, u8 *page)
{
	struct y2_header header = {
		.type = take(input) % 7, .parent = take(input), .mode = take16(input),
		.size = (u64)take16(input) << (take(input) % 40),
		.equivalent = take16(input), .shadows = take(input), .shrink = take(input) & 1,
	};

	header.name[0] = (char)take(input);
	y2_header_pack(&header, page);
}

static void record(struct input *input, struct ram_flash *flash)
{
	const struct y2_geometry geometry = flash->geometry;
	u32 block = take(input) % geometry.blocks, page = take(input) % geometry.chunks_per_block, kind = take(input);
	size_t index = (size_t)block * geometry.chunks_per_block + page;
	u8 *data = flash->data + index * geometry.page_bytes, *oob = flash->oob + index * geometry.oob_bytes;

	flash->page_state[index] = RAM_WRITTEN;
	flash->marked[index] = RAM_UNMARKED;	/* as far as anyone can see */
	flash->next_page[block] = geometry.chunks_per_block;
	if (kind % 4 == 1) {
		u32 at = take16(input) % (geometry.page_bytes + geometry.oob_bytes);
		u32 end = geometry.page_bytes + geometry.oob_bytes;

		for (u32 count = take(input) % 32; count && at < end; count--, at++)
			*(at < geometry.page_bytes ? data + at : oob + at - geometry.page_bytes) = take(input);
		ram_flash_seal(flash, block, page, true);
		return;
	}
	if (geometry.page_bytes == 512)
		put_yaffs1_tags(input, oob);
	else
		put_large_tags(input, oob);
	if (kind % 4 == 0)
		put_header(input, data);
	ram_flash_seal(flash, block, page, kind % 4 != 3);
}

/* Everything that can be reached is looked at, then some of it is changed */
static void use(struct y2_fs *fs, struct y2_object *dir, u32 depth)
{
	struct y2_entry *entries = malloc(8 * sizeof(*entries));
	u64 from = 0;
	int count;

	while (depth < 20 && (count = y2_readdir(fs, dir, from, entries, 8)) > 0) {
		for (int i = 0; i < count; i++) {
			struct y2_object *obj = NULL;
			u8 data[2000];

			if (y2_lookup(fs, dir, entries[i].name, (u32)strlen(entries[i].name), &obj))
				continue;
			if (obj->type == Y2_DIRECTORY)
				use(fs, obj, depth + 1);
			obj = y2_object_resolve(obj);
			if (obj->type == Y2_FILE) {
				y2_read(fs, obj, 0, data, sizeof(data));
				y2_write(fs, obj, 900, data, 200);
				y2_resize(fs, obj, 1000);
			}
		}
		from = entries[count - 1].cookie + 1;
		if (!from)
			break;
	}
	free(entries);
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t length)
{
	struct input input = { bytes, length };
	u32 how = take(&input);
	const struct y2_geometry *geometry = &geometries[how >> 5 & 1];
	struct ram_flash *flash = ram_flash_new(geometry, 1);
	struct y2_options options = { .read_only = how & 1, .no_summary = how & 2, .empty_lost_and_found = how & 16 };
	struct y2_fs *fs;

	y2_quiet = !getenv("Y2_LOUD");
	if (how & 4)
		sound_tree(flash, how & 8);
	/* A blank flash is taken for erased, and one with a checkpoint for what the checkpoint says */
	flash->lenient = !(how & 4) || how & 8;
	while (input.left)
		record(&input, flash);
	if (!y2_mount(&fs, geometry, &ram_flash_ops, flash, &options, test_now)) {
		CHECK_EQUAL(0, (u64)y2_verify(fs));
		use(fs, fs->root, 0);
		for (u32 i = 0; i < 20; i++)
			y2_gc_background(fs);
		CHECK_EQUAL(0, (u64)y2_verify(fs));
		y2_unmount(fs);
	}
	ram_flash_free(flash);
	return 0;
}
