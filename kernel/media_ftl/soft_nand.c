// SPDX-License-Identifier: GPL-2.0-only
/*
 * The array of the core's layers (media/src/array.h) on real flash. All its times are 0: the real
 * flash takes the time.
 */
#include "soft_nand.h"
#include "block_pool.h"

static struct fb_nand_layout layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_nand_layout with_blocks = fb_nand_geometry(p);

	with_blocks.blocks_offset =
		fb_add_table(end_offset, with_blocks.blocks_per_die * sizeof(struct fb_nand_block));
	return with_blocks;
}

static u32 pages_per_block(const struct fb_medium *m)
{
	return m->flash.nand.layout.pages_per_block;
}

/*
 * The core moves pages batch by batch: pages read in an earlier batch and not programmed are no
 * longer needed
 */
static void begin_batch(struct sftl *l)
{
	u32 i;

	if (l->batch == l->medium->flash.nand.batch)
		return;
	l->batch = l->medium->flash.nand.batch;
	for (i = 0; i < SFTL_HELD_PAGES; i++)
		l->held[i].held = false;
}

static struct sftl_held *held_page(struct sftl *l, u32 page)
{
	u32 i;

	for (i = 0; i < SFTL_HELD_PAGES; i++)
		if (l->held[i].held && l->held[i].page == page)
			return &l->held[i];
	return NULL;
}

static struct sftl_held *free_hold(struct sftl *l)
{
	u32 i;

	for (i = 0; i < SFTL_HELD_PAGES; i++)
		if (!l->held[i].held)
			return &l->held[i];
	return NULL;
}

static u8 *data_of(struct sftl *l, const struct sftl_held *held)
{
	return l->held_data + (held - l->held) * (size_t)l->flash.page_bytes;
}

/* Reads a flash page and its tag. A page that the core padded is erased, and reads as zeros. */
static int read_place(struct sftl *l, u32 ppn, void *data, struct sftl_tag *tag)
{
	u32 pages = pages_per_block(l->medium);
	u8 spare[SFTL_SPARE_BYTES];
	int err = sftl_pool_read(l, ppn / pages, ppn % pages, data, spare);

	*tag = (struct sftl_tag) { .page = SFTL_MAX_PAGES };
	switch (sftl_decode(spare, tag)) {
	case SFTL_ERASED:
		memset(data, 0, l->flash.page_bytes);
		return 0;
	case SFTL_ILLEGIBLE:
		return -EIO;
	case SFTL_TAGGED:
		break;
	}
	return err || tag->lost ? -EIO : 0;
}

static void read_for_host(struct sftl *l, u32 ppn)
{
	struct sftl_tag tag;

	l->error = read_place(l, ppn, l->host_buffer, &tag);
	if (!l->error && tag.sequence && tag.page != l->host_page)
		l->error = -EIO;
}

/* The layer knows which page is there, even if the tag no longer tells */
static void read_to_move(struct sftl *l, u32 ppn)
{
	u32 pages = pages_per_block(l->medium);
	struct sftl_held *held = free_hold(l);
	struct sftl_tag tag;

	if (!held) {
		l->error = -EIO;
		return;
	}
	held->held = true;
	held->lost = read_place(l, ppn, data_of(l, held), &tag) != 0;
	held->page = tag.page;
	if (held->page == SFTL_MAX_PAGES)
		held->page = fb_ftl(&l->medium->params)
				     ->page_at(l->medium, 0, ppn / pages * pages + ppn % pages);
	if (held->lost)
		l->statistics.lost_pages++;
}

static u64 read_page(struct fb_medium *m, u32 die, u32 ppn, u64 ready_ns, u64 transfer_bytes)
{
	struct sftl *l = sftl_of(m);

	(void)die;
	(void)ready_ns;
	(void)transfer_bytes;
	begin_batch(l);
	m->counters.flash_read_pages++;
	if (l->host_buffer)
		read_for_host(l, ppn);
	else
		read_to_move(l, ppn);
	return 0;
}

int sftl_program(struct sftl *l, u32 ppn, u32 page, bool copied, bool lost, const void *data)
{
	u32 pages = pages_per_block(l->medium);
	struct sftl_tag tag = {
		.page = page, .lost = lost, .copied = copied, .sequence = l->sequence
	};
	u8 spare[SFTL_SPARE_BYTES];

	l->sequence++;
	sftl_encode(&tag, spare);
	return sftl_pool_program(l, ppn / pages, ppn % pages, data, spare);
}

/*
 * Programs a held page that is due, else the host's page; else the core pads, and the page stays
 * erased
 */
static int program(struct sftl *l, u32 ppn, u64 page)
{
	struct sftl_held *held = page == FB_NO_PAGE ? NULL : held_page(l, page);

	if (l->broken)
		return -EIO;
	if (held) {
		held->held = false;
		return sftl_program(l, ppn, page, true, held->lost, data_of(l, held));
	}
	if (l->host_data && page == l->host_page)
		return sftl_program(l, ppn, page, false, false, l->host_data);
	return 0;
}

static u64 program_page(struct fb_medium *m, u32 die, u32 ppn, u64 page, u64 ready_ns)
{
	struct sftl *l = sftl_of(m);
	int err;

	(void)ready_ns;
	begin_batch(l);
	err = program(l, ppn, page);
	fb_nand_block(&m->flash.nand, die, ppn / pages_per_block(m))->programmed_pages++;
	m->counters.flash_programmed_pages++;
	if (err && !l->error)
		l->error = err;
	return 0;
}

/* A broken layer erases nothing, so that the next start finds everything */
static u64 erase_block(struct fb_medium *m, u32 die, u32 block, u64 ready_ns)
{
	struct sftl *l = sftl_of(m);
	struct fb_nand_block *b = fb_nand_block(&m->flash.nand, die, block);
	int err = l->broken ? -EIO : sftl_pool_erase(l, block);

	(void)ready_ns;
	b->programmed_pages = 0;
	b->erase_count++;
	m->counters.flash_erased_blocks++;
	if (err && !l->error)
		l->error = err;
	return 0;
}

static u64 free_ns(const struct fb_medium *m, u32 die)
{
	(void)m;
	(void)die;
	return 0;
}

const struct fb_array sftl_array = {
	.layout = layout,
	.read = read_page,
	.program = program_page,
	.erase = erase_block,
	.free_ns = free_ns,
};
