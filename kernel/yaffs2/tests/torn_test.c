// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a cut has left half programmed or half erased: that it does not count, and that a sound page with a wrong bit
 * does.
 */
#include "test.h"

struct bed {
	struct ram_flash *flash;
	struct y2_options options;
	struct y2_fs *fs;
};

static struct bed bed_of(const struct y2_geometry *geometry)
{
	struct bed bed = { .flash = ram_flash_new(geometry, 1), .options = { .no_checkpoint = true } };

	bed.fs = must_mount(bed.flash, &bed.options);
	return bed;
}

/* As after a cut: nothing is written that was not */
static void mount_again(struct bed *bed)
{
	y2_abandon(bed->fs);
	ram_flash_power_on(bed->flash);
	bed->fs = must_mount(bed->flash, &bed->options);
	CHECK_EQUAL(0, (u64)y2_verify(bed->fs));
}

static void end(struct bed *bed)
{
	y2_abandon(bed->fs);
	ram_flash_free(bed->flash);
}

static struct y2_object *file_named(struct bed *bed, const char *name)
{
	return must_find(bed->fs, bed->fs->root, name);
}

static void write_chunk(struct bed *bed, struct y2_object *file, u32 k, char what)
{
	u8 data[2048];

	memset(data, what, sizeof(data));
	CHECK_EQUAL(bed->fs->chunk_bytes,
		    (u64)y2_write(bed->fs, file, (u64)k * bed->fs->chunk_bytes, data, bed->fs->chunk_bytes));
}

static char first_byte(struct bed *bed, const char *name, u32 k)
{
	u8 data = 0;

	CHECK_EQUAL(1, (u64)y2_read(bed->fs, file_named(bed, name), (u64)k * bed->fs->chunk_bytes, &data, 1));
	return (char)data;
}

static u32 newest_chunk(const struct bed *bed)
{
	return bed->fs->alloc_block * bed->fs->geometry.chunks_per_block +
	       bed->fs->blocks[bed->fs->alloc_block].written - 1;
}

static void turn_bits(struct bed *bed, u32 chunk, u8 bits)
{
	bed->flash->data[(size_t)chunk * bed->flash->geometry.page_bytes + 100] ^= bits;
}

/* Three wrong bits of one piece look like one: the code would "correct" them to what nobody wrote */
static void a_torn_page_that_looks_corrected_does_not_count(void)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &small_geometry, &tiny_geometry };

	for (u32 i = 0; i < 3; i++) {
		struct bed bed = bed_of(geometries[i]);
		struct y2_object *file = must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);

		write_chunk(&bed, file, 0, 'a');
		CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		if (geometries[i] == &tiny_geometry)
			bed.flash->cut_at = bed.flash->operations + 2;	/* at the mark of the old page */
		write_chunk(&bed, file, 0, 'b');
		turn_bits(&bed, newest_chunk(&bed), 7);
		for (u32 mounts = 0; mounts < 3; mounts++) {
			mount_again(&bed);
			CHECK_EQUAL('a', (u64)first_byte(&bed, "f", 0));
			must_create(bed.fs, bed.fs->root, (const char[]) { (char)('x' + mounts), 0 }, S_IFREG | 0644);
			CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		}
		end(&bed);
	}
}

static void a_wrong_bit_of_a_sound_page_is_corrected(void)
{
	const struct y2_geometry *geometries[] = { &large_geometry, &small_geometry, &tiny_geometry };

	for (u32 i = 0; i < 3; i++) {
		struct bed bed = bed_of(geometries[i]);
		u32 chunk;

		write_chunk(&bed, must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644), 0, 'a');
		chunk = newest_chunk(&bed);
		write_chunk(&bed, file_named(&bed, "f"), 1, 'b');
		CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		turn_bits(&bed, chunk, 1);
		mount_again(&bed);
		CHECK_EQUAL('a', (u64)first_byte(&bed, "f", 0));
		end(&bed);
	}
}

/*
 * Of tags alone, for they are not under the chip's code: in a block of three pages of which the last is torn, all the
 * same
 */
static void wrong_bits_of_tags_are_no_torn_erase(void)
{
	struct bed bed = bed_of(&large_geometry);
	u32 chunk;

	write_chunk(&bed, must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644), 0, 'a');
	CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	mount_again(&bed);
	write_chunk(&bed, file_named(&bed, "f"), 0, 'b');
	chunk = newest_chunk(&bed);
	write_chunk(&bed, file_named(&bed, "f"), 1, 'c');
	write_chunk(&bed, file_named(&bed, "f"), 2, 'd');
	CHECK_EQUAL(chunk + 2, newest_chunk(&bed));
	bed.flash->oob[chunk * bed.flash->geometry.oob_bytes + 4] ^= 1;
	for (u32 i = 0; i < 8; i++)
		bed.flash->oob[(chunk + 2) * bed.flash->geometry.oob_bytes + i] ^= 0x55;
	ram_flash_seal(bed.flash, (chunk + 2) / 64, (chunk + 2) % 64, false);
	mount_again(&bed);
	CHECK_EQUAL('b', (u64)first_byte(&bed, "f", 0));
	CHECK_EQUAL('c', (u64)first_byte(&bed, "f", 1));
	end(&bed);
}

/* Until the last page of a block of pages of 512 bytes was written; returns that page */
static u32 fill_block(struct bed *bed, struct y2_object *file, u32 *k)
{
	u32 last = bed->fs->geometry.chunks_per_block;
	u32 chunk;

	do {
		write_chunk(bed, file, (*k)++, 'a');
	} while (bed->fs->alloc_block != Y2_NO_BLOCK);
	chunk = y2_index_get(&file->index, *k) - 1;
	CHECK_EQUAL(last - 1, chunk % last);
	return chunk;
}

static void the_last_page_of_a_full_block_counts_where_no_other_does(void)
{
	struct bed bed = bed_of(&tiny_geometry);
	struct y2_object *file = must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
	u32 k = 0, chunk = fill_block(&bed, file, &k);

	CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	turn_bits(&bed, chunk, 1);
	mount_again(&bed);
	CHECK_EQUAL('a', (u64)first_byte(&bed, "f", k - 1));
	end(&bed);
}

static void the_last_page_of_a_full_block_that_may_be_torn_yields(void)
{
	struct bed bed = bed_of(&tiny_geometry);
	struct y2_object *file = must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644);
	u32 k = 0, block;

	fill_block(&bed, file, &k);
	CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
	while (bed.fs->alloc_block == Y2_NO_BLOCK ||
	       bed.fs->blocks[bed.fs->alloc_block].written + 1u < bed.fs->geometry.chunks_per_block)
		write_chunk(&bed, file, k++, 'a');
	block = bed.fs->alloc_block;
	bed.flash->cut_at = bed.flash->operations + 2;		/* at the mark of the old page */
	write_chunk(&bed, file, 0, 'b');
	CHECK(bed.flash->off);
	turn_bits(&bed, (block + 1) * bed.fs->geometry.chunks_per_block - 1, 7);
	mount_again(&bed);
	CHECK_EQUAL('a', (u64)first_byte(&bed, "f", 0));
	mount_again(&bed);
	CHECK_EQUAL('a', (u64)first_byte(&bed, "f", 0));
	end(&bed);
}

/*
 * A bit of our mark, but not that which deletes, on a page that lives: a wrong bit, unless the block shows that its
 * erase had begun. The one that deletes is all that other drivers clear, so it counts alone.
 */
static void half_a_mark_deletes_only_in_a_torn_erase(void)
{
	for (u32 torn = 0; torn < 2; torn++) {
		struct bed bed = bed_of(&tiny_geometry);
		u32 chunk;

		write_chunk(&bed, must_create(bed.fs, bed.fs->root, "f", S_IFREG | 0644), 0, 'a');
		chunk = newest_chunk(&bed);
		write_chunk(&bed, file_named(&bed, "f"), 1, 'b');
		write_chunk(&bed, file_named(&bed, "f"), 2, 'c');
		CHECK_EQUAL(0, (u64)y2_sync(bed.fs, false));
		bed.flash->oob[chunk * 8 + 7] &= 0x7f;
		if (torn)
			turn_bits(&bed, chunk + 1, 1);
		mount_again(&bed);
		CHECK_EQUAL(torn ? 0 : 'a', (u64)first_byte(&bed, "f", 0));
		CHECK_EQUAL('b', (u64)first_byte(&bed, "f", 1));
		end(&bed);
	}
}

/* Set while a test looks at each erase: what is erased, and whether the note of it is on flash */
static struct y2_fs *watched;
static u32 noted_erases;

static bool has_note(struct ram_flash *flash, u32 block)
{
	for (u32 i = 0; i < flash->geometry.blocks * flash->geometry.chunks_per_block; i++) {
		const u8 *page = flash->data + (size_t)i * flash->geometry.page_bytes;

		if (get_unaligned_le32(page + Y2_NOTE) == Y2_NOTE_MAGIC &&
		    get_unaligned_le32(page + Y2_NOTE_KIND) == Y2_NOTE_VOID &&
		    get_unaligned_le32(page + Y2_NOTE_BLOCK) == block &&
		    get_unaligned_le32(page + Y2_NOTE_SEQ) == watched->blocks[block].seq)
			return true;
	}
	return false;
}

static int erase_that_is_noted(void *flash, u32 block)
{
	if (watched && watched->blocks[block].shrink_header) {
		CHECK(has_note(flash, block));
		noted_erases++;
	}
	return ram_flash_ops.erase(flash, block);
}

/* Blocks of tombstones alone: one after another they are collected, and a block of the log gets nothing but notes */
static void a_note_stays_on_flash_until_its_block_is_erased(void)
{
	const struct y2_geometry geometry = {
		.page_bytes = 2048, .oob_bytes = 38, .chunks_per_block = 4, .blocks = 128,
	};
	struct y2_flash_ops ops = ram_flash_ops;
	struct ram_flash *flash = ram_flash_new(&geometry, 1);
	const struct y2_options options = { .no_summary = true, .no_checkpoint = true };
	char name[8];

	ops.erase = erase_that_is_noted;
	CHECK_EQUAL(0, (u64)y2_mount(&watched, &geometry, &ops, flash, &options, test_now));
	for (u32 i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		must_create(watched, watched->root, name, S_IFREG | 0644);
	}
	for (u32 i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		CHECK_EQUAL(0, (u64)y2_unlink(watched, must_find(watched, watched->root, name)));
	}
	collect_all_but(watched, Y2_NO_BLOCK);
	CHECK(noted_erases >= 16);
	CHECK_EQUAL(0, (u64)y2_verify(watched));
	y2_abandon(watched);
	watched = NULL;
	ram_flash_free(flash);
}

const struct test torn_tests[] = {
	TEST(a_note_stays_on_flash_until_its_block_is_erased),
	TEST(a_torn_page_that_looks_corrected_does_not_count), TEST(a_wrong_bit_of_a_sound_page_is_corrected),
	TEST(wrong_bits_of_tags_are_no_torn_erase), TEST(the_last_page_of_a_full_block_counts_where_no_other_does),
	TEST(the_last_page_of_a_full_block_that_may_be_torn_yields), TEST(half_a_mark_deletes_only_in_a_torn_erase),
	END_OF_TESTS,
};
