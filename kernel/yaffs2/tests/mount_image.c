// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounts an image in the core and lists it: path, mode, owner, links, size, time, POSIX cksum of the contents.
 *	mount_image [-p PAGE] [-s SPARE] [-b CHUNKS] [-i] [-e] [-t] IMAGE	-t: the last page is torn
 */
#include <unistd.h>

#include "test.h"

static u32 cksum(const u8 *data, u64 bytes)
{
	u32 crc = 0;

	for (u64 i = 0, length = bytes; i < bytes || length; i++) {
		u32 byte = i < bytes ? data[i] : (u32)(length & 0xff);

		if (i >= bytes)
			length >>= 8;
		crc ^= byte << 24;
		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
	}
	return ~crc;
}

static void list(struct y2_fs *fs, struct y2_object *dir, const char *path)
{
	struct y2_entry *entries = malloc(100 * sizeof(*entries));
	int count = y2_readdir(fs, dir, 0, entries, 100);

	CHECK(count >= 0 && count < 100);
	for (int i = 0; i < count; i++) {
		struct y2_object *obj = y2_object_find(fs, entries[i].id);
		char name[1024], sum[16] = "-";

		if (obj == fs->lost_and_found) {
			CHECK(list_empty(&obj->children));
			continue;
		}
		snprintf(name, sizeof(name), "%s/%s", path, entries[i].name);
		if (obj->type == Y2_FILE) {
			u8 *data = malloc(obj->size + 1);

			CHECK(y2_read(fs, obj, 0, data, (u32)obj->size) == (int)obj->size);
			snprintf(sum, sizeof(sum), "%u", cksum(data, obj->size));
			free(data);
		}
		printf("%s %x %u:%u %u %" PRIu64 " %u %s\n", name, obj->mode, obj->uid, obj->gid,
		       obj->type == Y2_DIRECTORY ? 1 : y2_object_links(obj), obj->type == Y2_FILE ? obj->size : 0,
		       obj->mtime, sum);
		if (obj->type == Y2_DIRECTORY)
			list(fs, obj, name);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	struct y2_geometry geometry = { .page_bytes = 2048, .oob_bytes = 64, .chunks_per_block = 64, .blocks = 64 };
	struct y2_options options = { .read_only = true };
	struct ram_flash *flash;
	struct y2_fs *fs;
	bool torn = false;
	u32 pages = 0;
	FILE *file;
	int option;

	while ((option = getopt(argc, argv, "p:s:b:iet")) != -1) {
		if (option == 'p')
			geometry.page_bytes = (u32)atoi(optarg);
		if (option == 's')
			geometry.oob_bytes = (u32)atoi(optarg);
		if (option == 'b')
			geometry.chunks_per_block = (u32)atoi(optarg);
		options.inband_tags |= option == 'i';
		options.no_tags_ecc |= option == 'e';
		torn |= option == 't';
	}
	CHECK(optind + 1 == argc);
	file = fopen(argv[optind], "rb");
	CHECK(file);
	flash = ram_flash_new(&geometry, 1);
	while (fread(flash->data + pages * geometry.page_bytes, geometry.page_bytes, 1, file) == 1) {
		CHECK(!geometry.oob_bytes ||
		      fread(flash->oob + pages * geometry.oob_bytes, geometry.oob_bytes, 1, file) == 1);
		flash->page_state[pages] = RAM_WRITTEN;
		ram_flash_seal(flash, pages / geometry.chunks_per_block, pages % geometry.chunks_per_block, true);
		pages++;
	}
	fclose(file);
	if (torn)
		ram_flash_seal(flash, (pages - 1) / geometry.chunks_per_block, (pages - 1) % geometry.chunks_per_block,
			       false);
	fs = must_mount(flash, &options);
	CHECK_EQUAL(0, (u64)y2_verify(fs));
	list(fs, fs->root, ".");
	CHECK_EQUAL(0, (u64)y2_unmount(fs));
	ram_flash_free(flash);
	return 0;
}
