// SPDX-License-Identifier: GPL-2.0-only
/* The core's NAND (media/src/nand.h) on real flash. All times that it tells are 0: the flash has taken them already. */
#include "soft_nand.h"
#include "block_pool.h"

struct fb_nand_layout fb_nand_layout(const struct fb_params *p, u64 *end_offset)
{
	struct fb_nand_layout layout = fb_nand_geometry(p);

	layout.blocks_offset = fb_add_table(end_offset, layout.blocks_per_die * sizeof(struct fb_nand_block));
	return layout;
}

static u32 pages_per_block(const struct fb_medium *m)
{
	return m->flash.nand.layout.pages_per_block;
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

/* Reads a place; *tag is what stands there. A place that the core padded has nothing on it, which reads as zeros. */
static int read_place(struct sftl *l, u32 place, void *data, struct sftl_tag *tag)
{
	u32 pages = pages_per_block(l->medium);
	u8 spare[SFTL_SPARE_BYTES];
	int err = sftl_pool_read(l, place / pages, place % pages, data, spare);

	*tag = (struct sftl_tag) { .page = SFTL_MOST_PAGES };
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

static void read_for_host(struct sftl *l, u32 place)
{
	struct sftl_tag tag;

	l->error = read_place(l, place, l->host_buffer, &tag);
	if (!l->error && tag.sequence && tag.page != l->host_page)
		l->error = -EIO;
}

/* The layer that asks knows which page lies there, also if the tag does not say it any more */
static void read_to_move(struct sftl *l, u32 place)
{
	u32 pages = pages_per_block(l->medium);
	struct sftl_held *held = free_hold(l);
	struct sftl_tag tag;

	if (!held) {
		l->error = -EIO;
		return;
	}
	held->held = true;
	held->lost = read_place(l, place, data_of(l, held), &tag) != 0;
	held->page = tag.page;
	if (held->page == SFTL_MOST_PAGES)
		held->page = fb_ftl(&l->medium->params)->page_at(l->medium, 0, place / pages * pages + place % pages);
	if (held->lost)
		l->statistics.lost_pages++;
}

u64 fb_nand_read(struct fb_medium *m, u32 die, u32 place, u64 ready_ns, u64 transfer_bytes)
{
	struct sftl *l = sftl_of(m);

	(void)die;
	(void)ready_ns;
	(void)transfer_bytes;
	m->counters.flash_read_pages++;
	if (l->host_buffer)
		read_for_host(l, place);
	else
		read_to_move(l, place);
	return 0;
}

int sftl_program(struct sftl *l, u32 place, u32 page, bool copied, bool lost, const void *data)
{
	u32 pages = pages_per_block(l->medium);
	struct sftl_tag tag = { .page = page, .lost = lost, .copied = copied, .sequence = l->sequence };
	u8 spare[SFTL_SPARE_BYTES];

	l->sequence++;
	sftl_encode(&tag, spare);
	return sftl_pool_program(l, place / pages, place % pages, data, spare);
}

/* A held page goes to its new place; else it is the host's; else the core pads, and the page stays erased */
static int program(struct sftl *l, u32 place, u64 page)
{
	struct sftl_held *held = page == FB_NO_PAGE ? NULL : held_page(l, page);

	if (l->broken)
		return -EIO;
	if (held) {
		held->held = false;
		return sftl_program(l, place, page, true, held->lost, data_of(l, held));
	}
	if (l->host_data && page == l->host_page)
		return sftl_program(l, place, page, false, false, l->host_data);
	return 0;
}

u64 fb_nand_program(struct fb_medium *m, u32 die, u32 place, u64 page, u64 ready_ns)
{
	struct sftl *l = sftl_of(m);
	int err = program(l, place, page);

	(void)ready_ns;
	fb_nand_block(m, die, place / pages_per_block(m))->programmed_pages++;
	m->counters.flash_programmed_pages++;
	if (err && !l->error)
		l->error = err;
	return 0;
}

/* A broken layer erases nothing: what is there can be found again */
u64 fb_nand_erase(struct fb_medium *m, u32 die, u32 block, u64 ready_ns)
{
	struct sftl *l = sftl_of(m);
	struct fb_nand_block *b = fb_nand_block(m, die, block);
	int err = l->broken ? -EIO : sftl_pool_erase(l, block);

	(void)ready_ns;
	b->programmed_pages = 0;
	b->erase_count++;
	m->counters.flash_erased_blocks++;
	if (err && !l->error)
		l->error = err;
	return 0;
}

void fb_nand_begin_batch(struct fb_medium *m)
{
	struct sftl *l = sftl_of(m);
	u32 i;

	for (i = 0; i < SFTL_HELD_PAGES; i++)
		l->held[i].held = false;
}

u64 fb_nand_free_ns(const struct fb_medium *m, u32 die)
{
	(void)m;
	(void)die;
	return 0;
}

/* What follows serves the core's own front end and its power model, which have no part here */
void fb_nand_power_on(struct fb_medium *m)
{
	(void)m;
}

void fb_nand_promise(struct fb_medium *m)
{
	(void)m;
}

void fb_nand_erase_again(struct fb_medium *m, u32 die, u32 block)
{
	(void)m;
	(void)die;
	(void)block;
}

u64 fb_nand_scan(struct fb_medium *m, u64 pages_per_die)
{
	(void)m;
	(void)pages_per_die;
	return 0;
}

u32 fb_nand_page_kind(const struct fb_medium *m, u32 die, u32 place)
{
	(void)m;
	(void)die;
	(void)place;
	return 0;
}

void fb_nand_begin_slc(struct fb_medium *m, u32 die, u32 block)
{
	(void)m;
	(void)die;
	(void)block;
}

u64 *fb_nand_row_part(struct fb_medium *m, u32 die)
{
	(void)m;
	(void)die;
	return NULL;
}

struct fb_wear fb_nand_wear(const struct fb_medium *m)
{
	(void)m;
	return (struct fb_wear) { 0 };
}

const char *fb_nand_verify(const struct fb_medium *m)
{
	(void)m;
	return NULL;
}
