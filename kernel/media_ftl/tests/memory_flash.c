// SPDX-License-Identifier: GPL-2.0-only
/* Flash in memory that keeps the chip's rules, fails by chance and loses its power */
#include <stdlib.h>

#include "cells.h"
#include "memory_flash.h"
#include "one_bit_ecc.h"
#include "random.h"

u64 memory_flash_random(struct memory_flash *f)
{
	return cells_random(&f->random);
}

static struct memory_page *page_at(struct memory_flash *f, u32 block, u32 page)
{
	return &f->pages[block * f->flash.pages_per_block + page];
}

static bool is_bad(void *context, u32 block)
{
	return ((struct memory_flash *)context)->bad[block];
}

static void mark_bad(void *context, u32 block)
{
	struct memory_flash *f = context;

	if (!f->off)
		f->bad[block] = true;
}

/* All that is stored of a page lies in one piece: data, ECC, spare area */
static u32 stored_bytes(const struct memory_flash *f)
{
	return f->flash.page_bytes + one_bit_ecc_bytes(f->flash.page_bytes) + SFTL_SPARE_BYTES;
}

static u8 *ecc_of(const struct memory_flash *f, const struct memory_page *p)
{
	return p->stored + f->flash.page_bytes;
}

static u8 *spare_of(const struct memory_flash *f, const struct memory_page *p)
{
	return ecc_of(f, p) + one_bit_ecc_bytes(f->flash.page_bytes);
}

static void erase_page(struct memory_flash *f, struct memory_page *p)
{
	memset(p->stored, 0xff, stored_bytes(f));
	p->programmed = false;
}

static void store(struct memory_flash *f, struct memory_page *p, const void *data, const u8 *spare)
{
	memcpy(p->stored, data, f->flash.page_bytes);
	one_bit_ecc(data, f->flash.page_bytes, ecc_of(f, p));
	memcpy(spare_of(f, p), spare, SFTL_SPARE_BYTES);
	p->programmed = true;
}

static bool is_erased(const struct memory_flash *f, const struct memory_page *p)
{
	u32 i;

	for (i = 0; i < stored_bytes(f) && p->stored[i] == 0xff; i++)
		;
	return i == stored_bytes(f);
}

static void garble(struct memory_flash *f, struct memory_page *p)
{
	u32 i;

	for (i = 0; i < stored_bytes(f); i++)
		p->stored[i] = memory_flash_random(f);
}

static void tear_erase(struct memory_flash *f, u32 block)
{
	u32 done = cells_moment(&f->random);
	u32 i;

	for (i = 0; i < f->flash.pages_per_block; i++)
		cells_set_some(page_at(f, block, i)->stored, stored_bytes(f), done, &f->random);
}

static void tear_program(struct memory_flash *f, struct memory_page *p, const void *data, const u8 *spare)
{
	u32 done = cells_moment(&f->random);

	store(f, p, data, spare);
	cells_set_some(p->stored, stored_bytes(f), CELLS_WHOLE - done, &f->random);
	p->programmed = !is_erased(f, p);
}

/* One bit of a page may turn once another page was programmed; never of the last before a cut, which might be torn */
static void age(struct memory_flash *f, struct memory_page *newest)
{
	struct memory_page *p = f->newest;
	u32 bit = memory_flash_random(f) % (8 * stored_bytes(f));

	if (p && p->programmed && (memory_flash_random(f) & 0xffff) < f->wrong_bits)
		p->stored[bit / 8] ^= 1 << bit % 8;
	f->newest = newest;
}

/* True: the power goes in this operation */
static bool next_operation(struct memory_flash *f)
{
	f->operations++;
	if (f->operations != f->cut_at)
		return false;
	f->off = true;
	return true;
}

static int erase(void *context, u32 block)
{
	struct memory_flash *f = context;
	u32 i;

	if (f->off)
		return -EIO;
	if (f->bad[block])
		f->violations++;
	if (next_operation(f)) {
		tear_erase(f, block);
		return -EIO;
	}
	if ((memory_flash_random(f) & 0xffff) < f->erase_failures)
		return -EIO;
	for (i = 0; i < f->flash.pages_per_block; i++)
		erase_page(f, page_at(f, block, i));
	return 0;
}

static int program(void *context, u32 block, u32 page, const void *data, const u8 spare[SFTL_SPARE_BYTES])
{
	struct memory_flash *f = context;
	struct memory_page *p = page_at(f, block, page);
	u32 later;

	if (f->off)
		return -EIO;
	for (later = page; later < f->flash.pages_per_block; later++)
		if (page_at(f, block, later)->programmed)
			f->violations++;
	if (f->bad[block])
		f->violations++;
	if (next_operation(f)) {
		tear_program(f, p, data, spare);
		return -EIO;
	}
	store(f, p, data, spare);
	age(f, p);
	if ((memory_flash_random(f) & 0xffff) >= f->program_failures)
		return 0;
	garble(f, p);
	return -EIO;
}

static int read(void *context, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES])
{
	struct memory_flash *f = context;
	struct memory_page *p = page_at(f, block, page);

	if (f->off)
		return -EIO;
	if (++f->reads == f->failing_read)
		return -EIO;
	memcpy(spare, spare_of(f, p), SFTL_SPARE_BYTES);
	if (!data)
		return 0;
	memcpy(data, p->stored, f->flash.page_bytes);
	return one_bit_ecc_correct(data, f->flash.page_bytes, ecc_of(f, p));
}

/* Aligned as the core wants its state */
static void *allocate(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	return memory ? memset(memory, 0, bytes) : NULL;
}

void memory_flash_make(struct memory_flash *f, u32 blocks, u32 pages_per_block, u32 page_bytes, u64 seed)
{
	u32 pages = blocks * pages_per_block;
	u32 i;

	*f = (struct memory_flash) {
		.flash = {
			.context = f, .blocks = blocks, .pages_per_block = pages_per_block, .page_bytes = page_bytes,
			.is_bad = is_bad, .mark_bad = mark_bad, .erase = erase, .program = program, .read = read,
			.allocate = allocate, .release = free,
		},
		.random = seed * FB_SPLITMIX_STEP + 1,
	};
	f->pages = calloc(pages, sizeof(*f->pages));
	f->content = malloc((size_t)pages * stored_bytes(f));
	f->bad = calloc(blocks, sizeof(*f->bad));
	if (!f->pages || !f->content || !f->bad)
		abort();
	for (i = 0; i < pages; i++) {
		f->pages[i].stored = f->content + (size_t)i * stored_bytes(f);
		erase_page(f, &f->pages[i]);
	}
}

void memory_flash_free(struct memory_flash *f)
{
	free(f->pages);
	free(f->content);
	free(f->bad);
}

void memory_flash_turn_bit(struct memory_flash *f, u32 pages_before, bool spare)
{
	struct memory_page *p = f->newest - pages_before;

	*(spare ? spare_of(f, p) : p->stored) ^= 1;
}

void memory_flash_on(struct memory_flash *f)
{
	f->off = false;
	f->cut_at = 0;
	f->newest = NULL;
}
