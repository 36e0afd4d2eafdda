// SPDX-License-Identifier: GPL-2.0-only
/* A NAND flash in memory that holds its user to the rules, with failures and power cuts. */
#include "../../../media/src/random.h"
#include "../../host_flash/cells.h"
#include "../../host_flash/one_bit_ecc.h"
#include "harness.h"
#include "ram_flash.h"

#define MILLION	1000000u

u32 ram_random(u64 *state, u32 below)
{
	return (u32)(cells_random(state) % below);
}

static void breach(const char *what, u32 block, u32 page)
{
	check_failed(__FILE__, __LINE__, "flash misused: %s, block %u page %u", what, block, page);
}

static size_t index_of(const struct ram_flash *flash, u32 block, u32 page)
{
	if (block >= flash->geometry.blocks || page >= flash->geometry.chunks_per_block)
		breach("no such page", block, page);
	return (size_t)block * flash->geometry.chunks_per_block + page;
}

static u8 *data_of(struct ram_flash *flash, size_t index)
{
	return flash->data + index * flash->geometry.page_bytes;
}

static u8 *oob_of(struct ram_flash *flash, size_t index)
{
	return flash->oob + index * flash->geometry.oob_bytes;
}

static bool chance(struct ram_flash *flash, u32 per_million)
{
	return per_million && ram_random(&flash->random, MILLION) < per_million;
}

static u32 ecc_bytes(const struct ram_flash *flash)
{
	return one_bit_ecc_bytes(flash->geometry.page_bytes);
}

static u8 *ecc_of(struct ram_flash *flash, size_t index)
{
	return flash->ecc + index * ecc_bytes(flash);
}

static void seal(struct ram_flash *flash, size_t index)
{
	one_bit_ecc(data_of(flash, index), flash->geometry.page_bytes, ecc_of(flash, index));
}

void ram_flash_seal(struct ram_flash *flash, u32 block, u32 page, bool readable)
{
	size_t index = index_of(flash, block, page);

	seal(flash, index);
	if (!readable)
		ecc_of(flash, index)[0] ^= 3;
}

struct ram_flash *ram_flash_new(const struct y2_geometry *geometry, u64 seed)
{
	struct ram_flash *flash = calloc(1, sizeof(*flash));
	size_t pages = (size_t)geometry->blocks * geometry->chunks_per_block;

	flash->geometry = *geometry;
	flash->data = malloc(pages * geometry->page_bytes);
	flash->oob = malloc(pages * geometry->oob_bytes + 1);
	memset(flash->data, 0xff, pages * geometry->page_bytes);
	memset(flash->oob, 0xff, pages * geometry->oob_bytes);
	flash->ecc = malloc(pages * ecc_bytes(flash));
	memset(flash->ecc, 0xff, pages * ecc_bytes(flash));
	flash->newest = flash->torn = RAM_NO_PAGE;
	flash->meant = calloc(1, geometry->page_bytes);
	flash->page_state = calloc(pages, 1);
	flash->marked = calloc(pages, 1);
	flash->bad = calloc(geometry->blocks, 1);
	flash->next_page = calloc(geometry->blocks, sizeof(u32));
	flash->random = seed * FB_SPLITMIX_STEP + 1;
	return flash;
}

static void *copy_of(const void *from, size_t bytes)
{
	return memcpy(malloc(bytes), from, bytes);
}

struct ram_flash *ram_flash_copy(const struct ram_flash *flash)
{
	const struct y2_geometry *geometry = &flash->geometry;
	size_t pages = (size_t)geometry->blocks * geometry->chunks_per_block;
	struct ram_flash *copy = copy_of(flash, sizeof(*flash));

	copy->data = copy_of(flash->data, pages * geometry->page_bytes);
	copy->oob = copy_of(flash->oob, pages * geometry->oob_bytes);
	copy->ecc = copy_of(flash->ecc, pages * ecc_bytes(flash));
	copy->meant = copy_of(flash->meant, geometry->page_bytes);
	copy->page_state = copy_of(flash->page_state, pages);
	copy->marked = copy_of(flash->marked, pages);
	copy->bad = copy_of(flash->bad, geometry->blocks);
	copy->next_page = copy_of(flash->next_page, geometry->blocks * sizeof(u32));
	return copy;
}

void ram_flash_free(struct ram_flash *flash)
{
	free(flash->data);
	free(flash->oob);
	free(flash->page_state);
	free(flash->ecc);
	free(flash->meant);
	free(flash->marked);
	free(flash->bad);
	free(flash->next_page);
	free(flash);
}

void ram_flash_forget_failed_marks(struct ram_flash *flash)
{
	size_t pages = (size_t)flash->geometry.blocks * flash->geometry.chunks_per_block;

	for (size_t i = 0; i < pages; i++)
		if (flash->marked[i] == RAM_MARK_FAILED)
			flash->marked[i] = RAM_MARK_TORN;
}

void ram_flash_power_on(struct ram_flash *flash)
{
	flash->off = false;
	flash->cut_at = 0;
	flash->torn_erase = false;
	flash->newest = flash->torn = RAM_NO_PAGE;
}

static void put(struct ram_flash *flash, size_t index, const u8 *data, const u8 *oob)
{
	memcpy(data_of(flash, index), data, flash->geometry.page_bytes);
	if (oob)
		memcpy(oob_of(flash, index), oob, flash->geometry.oob_bytes);
	seal(flash, index);
	flash->page_state[index] = RAM_WRITTEN;
}

static void set_some(struct ram_flash *flash, size_t index, u32 of_whole)
{
	cells_set_some(data_of(flash, index), flash->geometry.page_bytes, of_whole, &flash->random);
	cells_set_some(oob_of(flash, index), flash->geometry.oob_bytes, of_whole, &flash->random);
	cells_set_some(ecc_of(flash, index), ecc_bytes(flash), of_whole, &flash->random);
	flash->page_state[index] = RAM_TORN;
}

static void tear_write(struct ram_flash *flash, size_t index, const u8 *data, const u8 *oob)
{
	put(flash, index, data, oob);
	set_some(flash, index, CELLS_WHOLE - cells_moment(&flash->random));
}

static void erase_page(struct ram_flash *flash, size_t index)
{
	memset(data_of(flash, index), 0xff, flash->geometry.page_bytes);
	memset(oob_of(flash, index), 0xff, flash->geometry.oob_bytes);
	memset(ecc_of(flash, index), 0xff, ecc_bytes(flash));
	flash->page_state[index] = RAM_ERASED;
	flash->marked[index] = RAM_UNMARKED;
}

static void tear_page_erase(struct ram_flash *flash, size_t index, u32 done)
{
	if (flash->page_state[index] == RAM_ERASED)
		return;		/* an erase does not program what was empty */
	set_some(flash, index, done);
	if (flash->marked[index] != RAM_UNMARKED)
		flash->marked[index] = RAM_MARK_TORN;
}

/* All pages are as far as the others, as cells are; or each is somewhere else, which is worse */
static void tear_erase(struct ram_flash *flash, u32 block)
{
	u32 done = cells_moment(&flash->random);
	bool alike = ram_random(&flash->random, 4);

	flash->torn_erase = true;
	for (u32 page = 0; page < flash->geometry.chunks_per_block; page++)
		tear_page_erase(flash, index_of(flash, block, page), alike ? done : cells_moment(&flash->random));
	flash->next_page[block] = flash->geometry.chunks_per_block;	/* to be erased before it is written */
}

/* The spare area of short tags is left out: their ECC does not bear wrong bits of its own */
static void age(struct ram_flash *flash, size_t index)
{
	u32 data_bits = 8 * flash->geometry.page_bytes;
	u32 oob_bits = flash->geometry.page_bytes == 512 ? 0 : 8 * flash->geometry.oob_bytes;
	size_t old = flash->newest;
	u32 bit;

	flash->newest = index;
	if (old == RAM_NO_PAGE || flash->page_state[old] != RAM_WRITTEN || !chance(flash, flash->flip_per_million))
		return;
	bit = ram_random(&flash->random, data_bits + oob_bits);
	if (bit < data_bits)
		data_of(flash, old)[bit / 8] ^= 1u << bit % 8;
	else
		oob_of(flash, old)[(bit - data_bits) / 8] ^= 1u << bit % 8;
}

static int ram_read(void *context, u32 block, u32 page, u8 *data, u8 *oob)
{
	struct ram_flash *flash = context;
	size_t index = index_of(flash, block, page);
	int result = Y2_READ_CLEAN;

	if (flash->off)
		return -EIO;
	if (flash->bad[block])
		breach("read of a bad block", block, page);
	if (data) {
		int err;

		memcpy(data, data_of(flash, index), flash->geometry.page_bytes);
		err = one_bit_ecc_correct(data, flash->geometry.page_bytes, ecc_of(flash, index));
		result = err == -EBADMSG ? Y2_READ_UNFIXED : err ? Y2_READ_FIXED : Y2_READ_CLEAN;
	}
	if (oob)
		memcpy(oob, oob_of(flash, index), flash->geometry.oob_bytes);
	return result;
}

/* True: this is the operation during which the power fails */
static bool cut_now(struct ram_flash *flash)
{
	if (++flash->operations != flash->cut_at)
		return false;
	flash->off = true;
	ram_flash_forget_failed_marks(flash);
	return true;
}

/*
 * A mark that was torn by the cut cannot be told from none at the next mount, nor can one that failed before the cut:
 * such pages may be marked again, which is once more than the data sheet allows, and is counted.
 */
static void count_again(struct ram_flash *flash, size_t index, u32 block, u32 page)
{
	if (flash->marked[index] == RAM_MARK_TORN)
		flash->marks_again++;
	else if (flash->marked[index] != RAM_UNMARKED && !flash->lenient)
		breach("second mark", block, page);
}

/* Bits of the spare area go to zero, on top of what is there */
static int mark(struct ram_flash *flash, u32 block, u32 page, const u8 *oob)
{
	size_t index = index_of(flash, block, page);
	bool cut = cut_now(flash), failed = !cut && chance(flash, flash->fail_program_per_million);
	u32 way = ram_random(&flash->random, 3);

	/* A program that failed may have left nothing */
	if (flash->page_state[index] == RAM_ERASED && page >= flash->next_page[block] && !flash->lenient)
		breach("mark of an erased page", block, page);
	count_again(flash, index, block, page);
	flash->marks++;
	flash->marked[index] = cut ? RAM_MARK_TORN : failed ? RAM_MARK_FAILED : RAM_MARKED;
	if (flash->page_state[index] == RAM_ERASED)
		flash->page_state[index] = RAM_TORN;
	flash->failures += failed;
	for (u32 i = 0; i < flash->geometry.oob_bytes; i++) {
		u8 half = way == 0 ? 0xff : way == 1 ? 0 : (u8)ram_random(&flash->random, 256);

		oob_of(flash, index)[i] &= oob[i] | (cut || failed ? half : 0);
	}
	return cut || failed ? -EIO : 0;
}

static int ram_write(void *context, u32 block, u32 page, const u8 *data, const u8 *oob)
{
	struct ram_flash *flash = context;
	size_t index = index_of(flash, block, page);

	if (flash->off)
		return -EIO;
	if (flash->bad[block])
		breach("write to a bad block", block, page);
	if (!data)
		return mark(flash, block, page, oob);
	if (flash->lenient && (flash->page_state[index] != RAM_ERASED || page != flash->next_page[block]))
		return -EIO;
	if (flash->page_state[index] != RAM_ERASED)
		breach("second write", block, page);
	if (page != flash->next_page[block])
		breach("write out of order", block, page);
	if (cut_now(flash)) {
		flash->torn = index;
		memcpy(flash->meant, data, flash->geometry.page_bytes);
		tear_write(flash, index, data, oob);
		flash->next_page[block] = flash->geometry.chunks_per_block;
		return -EIO;
	}
	flash->next_page[block]++;
	if (chance(flash, flash->fail_program_per_million)) {
		flash->failures++;
		tear_write(flash, index, data, oob);
		return -EIO;
	}
	put(flash, index, data, oob);
	age(flash, index);
	return 0;
}

static int ram_erase(void *context, u32 block)
{
	struct ram_flash *flash = context;

	if (flash->off)
		return -EIO;
	index_of(flash, block, 0);
	if (flash->bad[block])
		breach("erase of a bad block", block, 0);
	if (cut_now(flash)) {
		tear_erase(flash, block);
		return -EIO;
	}
	if (chance(flash, flash->fail_erase_per_million)) {
		flash->failures++;
		return -EIO;
	}
	for (u32 page = 0; page < flash->geometry.chunks_per_block; page++)
		erase_page(flash, index_of(flash, block, page));
	flash->next_page[block] = 0;
	return 0;
}

static int ram_mark_bad(void *context, u32 block)
{
	struct ram_flash *flash = context;

	if (flash->off || flash->fail_bad_marks)
		return -EIO;
	flash->bad[block] = 1;
	return 0;
}

static bool ram_is_bad(void *context, u32 block)
{
	return ((struct ram_flash *)context)->bad[block];
}

const struct y2_flash_ops ram_flash_ops = {
	.read = ram_read, .write = ram_write, .erase = ram_erase, .mark_bad = ram_mark_bad, .is_bad = ram_is_bad,
};
