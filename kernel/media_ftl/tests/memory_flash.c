// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "memory_flash.h"

u64 memory_flash_random(struct memory_flash *f)
{
	f->random ^= f->random >> 12;
	f->random ^= f->random << 25;
	f->random ^= f->random >> 27;
	return f->random * 0x2545f4914f6cdd1dull >> 16;
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

static void erase_page(struct memory_flash *f, struct memory_page *p)
{
	memset(p->data, 0xff, f->flash.page_bytes);
	memset(p->spare, 0xff, SFTL_SPARE_BYTES);
	p->programmed = false;
	p->unreadable = false;
}

static void garble(struct memory_flash *f, u8 *bytes, u32 count)
{
	while (count--)
		*bytes++ = memory_flash_random(f);
}

/* Old content, none, or noise, page by page */
static void tear_erase(struct memory_flash *f, u32 block)
{
	u64 how = memory_flash_random(f) % 4;
	u32 i;

	for (i = 0; i < f->flash.pages_per_block; i++) {
		struct memory_page *p = page_at(f, block, i);

		if (how == 0 || (how == 1 && memory_flash_random(f) & 1))
			continue;
		erase_page(f, p);
		if (how == 2 || (how == 1 && memory_flash_random(f) & 1))
			continue;
		garble(f, p->data, f->flash.page_bytes);
		garble(f, p->spare, SFTL_SPARE_BYTES);
		p->unreadable = true;
		p->programmed = true;
	}
}

static void tear_program(struct memory_flash *f, struct memory_page *p, const void *data, const u8 *spare)
{
	u64 how = memory_flash_random(f) % 5;

	if (how == 0)
		return;
	p->programmed = true;
	memcpy(p->data, data, f->flash.page_bytes);
	memcpy(p->spare, spare, SFTL_SPARE_BYTES);
	if (how == 1)
		return;
	p->unreadable = true;
	garble(f, p->data, f->flash.page_bytes / 2);
	if (how == 3)
		garble(f, p->spare, SFTL_SPARE_BYTES);
	if (how == 4)
		memset(p->spare, 0xff, SFTL_SPARE_BYTES);
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
		f->broken_rules++;
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
			f->broken_rules++;
	if (f->bad[block])
		f->broken_rules++;
	if (next_operation(f)) {
		tear_program(f, p, data, spare);
		return -EIO;
	}
	p->programmed = true;
	memcpy(p->data, data, f->flash.page_bytes);
	memcpy(p->spare, spare, SFTL_SPARE_BYTES);
	if ((memory_flash_random(f) & 0xffff) >= f->program_failures)
		return 0;
	p->unreadable = true;
	garble(f, p->data, f->flash.page_bytes);
	garble(f, p->spare, SFTL_SPARE_BYTES);
	return -EIO;
}

static int read(void *context, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES])
{
	struct memory_flash *f = context;
	struct memory_page *p = page_at(f, block, page);

	if (f->off)
		return -EIO;
	if (data)
		memcpy(data, p->data, f->flash.page_bytes);
	memcpy(spare, p->spare, SFTL_SPARE_BYTES);
	return data && p->unreadable ? -EBADMSG : 0;
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
		.random = seed * 0x9e3779b97f4a7c15ull + 1,
	};
	f->pages = calloc(pages, sizeof(*f->pages));
	f->content = malloc((size_t)pages * page_bytes);
	f->bad = calloc(blocks, sizeof(*f->bad));
	if (!f->pages || !f->content || !f->bad)
		abort();
	for (i = 0; i < pages; i++) {
		f->pages[i].data = f->content + (size_t)i * page_bytes;
		erase_page(f, &f->pages[i]);
	}
}

void memory_flash_free(struct memory_flash *f)
{
	free(f->pages);
	free(f->content);
	free(f->bad);
}

void memory_flash_on(struct memory_flash *f)
{
	f->off = false;
	f->cut_at = 0;
}
