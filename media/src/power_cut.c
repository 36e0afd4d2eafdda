// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The power cut: the fate of each pending part, and of the operations under way */
#include "kind.h"
#include "power_parts.h"
#include "random.h"

u64 fb_last_request_ns(const struct fb_medium *m)
{
	return m->now_ns;
}

u64 fb_half_erased_blocks(const struct fb_medium *m)
{
	return m->power.half_erased;
}

struct fb_cut {
	struct fb_medium *m;
	u64 cut_ns;
	u64 random;
	fb_tell *tell;
	void *context;
};

static void tell(struct fb_cut *cut, struct fb_fated fated)
{
	if (!fated.length_bytes)
		return;
	if (cut->m->power.unreadable_sectors || fated.fate == FB_UNREADABLE)
		fb_unreadable_mark(cut->m, &fated);
	cut->tell(cut->context, &fated);
}

static struct fb_fated torn(u64 sequence, u64 offset_bytes, u64 length_bytes, enum fb_fate fate)
{
	return (struct fb_fated) {
		.sequence = sequence,
		.offset_bytes = offset_bytes,
		.length_bytes = length_bytes,
		.fate = fate,
		.torn = true,
	};
}

/*
 * A half-programmed page. It is a new place: the sectors' former page is as it was. After the restart the firmware reads
 * the open block, and takes the page if error correction can read it, or else goes on with the former one. The seed
 * decides whether it can be read.
 */
static void tear_page(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	enum fb_fate fate = fb_splitmix(&cut->random) & 1 ? FB_KEPT : FB_LOST;

	tell(cut, torn(sequence, part->offset_bytes, part->length_bytes, fate));
}

/* An upper page is programmed into cells that already hold other pages */
static void tear_neighbours(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	struct fb_medium *m = cut->m;
	u32 lower = part->page_kind;

	while (lower) {
		u64 page = fb_ftl(&m->params)->page_at(m, part->die, part->ppn - lower-- * m->params.planes);
		u64 offset_bytes = page * m->params.page_bytes;
		struct fb_fated fated = {
			.sequence = sequence,
			.offset_bytes = offset_bytes,
			.length_bytes = m->params.page_bytes,
			.fate = FB_UNREADABLE,
			.neighbour = true,
		};

		if (page == FB_NO_PAGE || offset_bytes >= m->params.capacity_bytes)
			continue;
		fated.length_bytes = fb_min(fated.length_bytes, m->params.capacity_bytes - offset_bytes);
		if (fb_splitmix(&cut->random) & 1 && fb_unreadable_has_room(m, fated.length_bytes))
			tell(cut, fated);
	}
}

/*
 * Sectors pass under the head one by one: earlier ones are new, later ones are old; the seed decides the one under it
 */
void fb_tear_run(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	u64 sector_bytes = cut->m->params.sector_bytes;
	u64 sectors = part->length_bytes / sector_bytes;
	u64 passed = (cut->cut_ns - part->begin_ns) * sectors / (part->durable_ns - part->begin_ns);
	u64 under = part->offset_bytes + passed * sector_bytes;
	u64 end = part->offset_bytes + part->length_bytes;
	bool readable = fb_splitmix(&cut->random) & 1 || !fb_unreadable_has_room(cut->m, sector_bytes);

	tell(cut, torn(sequence, part->offset_bytes, passed * sector_bytes, FB_KEPT));
	tell(cut, torn(sequence, under, sector_bytes, readable ? FB_LOST : FB_UNREADABLE));
	tell(cut, torn(sequence, under + sector_bytes, end - under - sector_bytes, FB_LOST));
}

void fb_tear_page(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	tear_page(cut, sequence, part);
	if (cut->m->params.paired_page_loss)
		tear_neighbours(cut, sequence, part);
}

static void decide(struct fb_cut *cut, u64 sequence, const struct fb_pending *part)
{
	struct fb_fated whole = {
		.sequence = sequence,
		.offset_bytes = part->offset_bytes,
		.length_bytes = part->length_bytes,
		.fate = FB_KEPT,
	};

	if (cut->m->params.power_loss_protection) {
		tell(cut, whole);
		return;
	}
	if (part->durable_ns > cut->cut_ns && part->begin_ns < cut->cut_ns) {
		fb_kind_ops(&cut->m->params)->tear(cut, sequence, part);
		return;
	}
	if (part->durable_ns > cut->cut_ns)
		whole.fate = FB_LOST;
	tell(cut, whole);
}

static void cut_erases(struct fb_medium *m, u64 cut_ns)
{
	u64 known = fb_min(m->power.erases, FB_KNOWN_ERASES);
	u32 i;

	for (i = 0; i < known; i++) {
		const struct fb_erasing *e = &m->power.erasing[i];

		if (e->begin_ns >= cut_ns || e->end_ns <= cut_ns)
			continue;
		fb_nand_erase_again(m, e->die, e->block);
		m->power.half_erased++;
	}
}

bool fb_off(const struct fb_medium *m)
{
	return m->power.cut;
}

void fb_cut(struct fb_medium *m, u64 cut_ns, u64 seed, fb_tell *tell, void *context)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	struct fb_cut cut = { m, cut_ns, seed, tell, context };
	u64 sequence = m->power.first_sequence;
	u64 end = fb_next_sequence(m);

	if (!kind->submit)
		return;
	if (kind->catch_up)
		kind->catch_up(m, cut_ns);
	fb_unreadable_forget_mended(&m->power);
	for (; sequence < end; sequence++)
		decide(&cut, sequence, fb_power_part(m, sequence));
	cut_erases(m, cut_ns);
	fb_power_forget(m);
	m->power.cut = 1;
}
