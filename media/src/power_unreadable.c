// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Sectors made unreadable by a power cut or by wrong bits, and which of them were written again */
#include "power_parts.h"
#include "arith.h"

u64 fb_unreadable_sectors(const struct fb_medium *m)
{
	u64 count = 0;
	u32 i;

	for (i = 0; i < m->power.unreadable_sectors; i++)
		count += !m->power.unreadable[i].rewritten;
	return count;
}

struct sectors {
	u64 first;
	u64 end;
};

static struct sectors sectors_of(const struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	u64 first = offset_bytes / m->params.sector_bytes;

	return (struct sectors) { first, first + length_bytes / m->params.sector_bytes };
}

static bool within(const struct sectors *range, u64 sector)
{
	return sector >= range->first && sector < range->end;
}

bool fb_unreadable(const struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	struct sectors range = sectors_of(m, offset_bytes, length_bytes);
	u32 i;

	for (i = 0; i < m->power.unreadable_sectors; i++)
		if (!m->power.unreadable[i].rewritten && within(&range, m->power.unreadable[i].sector))
			return true;
	return false;
}

static void readable_again(struct fb_power *power, u32 i)
{
	power->unreadable[i] = power->unreadable[--power->unreadable_sectors];
}

/* A rewritten sector counts as readable, for good once the write can no longer be lost */
void fb_unreadable_rewritten(struct fb_medium *m, const struct fb_pending *part, u64 sequence)
{
	struct sectors range = sectors_of(m, part->offset_bytes, part->length_bytes);
	u32 i;

	for (i = 0; i < m->power.unreadable_sectors; i++)
		if (!m->power.unreadable[i].rewritten && within(&range, m->power.unreadable[i].sector))
			m->power.unreadable[i].rewritten = sequence + 1;
}

/* Drops the rewritten sectors whose part has left the ring */
void fb_unreadable_forget_mended(struct fb_power *power)
{
	u32 i = 0;

	while (i < power->unreadable_sectors)
		if (power->unreadable[i].rewritten && power->unreadable[i].rewritten <= power->first_sequence)
			readable_again(power, i);
		else
			i++;
}

static void mark_unreadable(struct fb_power *power, const struct sectors *range)
{
	u64 sector;
	u32 i;

	for (i = 0; i < power->unreadable_sectors;)
		if (within(range, power->unreadable[i].sector))
			readable_again(power, i);
		else
			i++;
	for (sector = range->first; sector < range->end; sector++)
		power->unreadable[power->unreadable_sectors++] = (struct fb_unreadable_sector) { .sector = sector };
}

void fb_unreadable_mark(struct fb_medium *m, const struct fb_fated *fated)
{
	struct sectors range = sectors_of(m, fated->offset_bytes, fated->length_bytes);
	struct fb_power *power = &m->power;
	u32 i = 0;

	if (fated->fate == FB_UNREADABLE) {
		mark_unreadable(power, &range);
		return;
	}
	while (i < power->unreadable_sectors) {
		struct fb_unreadable_sector *u = &power->unreadable[i];

		if (fated->fate == FB_LOST && u->rewritten == fated->sequence + 1)
			u->rewritten = 0;
		if (fated->fate == FB_KEPT && within(&range, u->sector))
			readable_again(power, i);
		else
			i++;
	}
}

bool fb_unreadable_has_room(const struct fb_medium *m, u64 length_bytes)
{
	return m->power.unreadable_sectors + length_bytes / m->params.sector_bytes <= FB_UNREADABLE_SECTORS;
}

void fb_power_lose(struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	u64 end_bytes = fb_min(offset_bytes + length_bytes, m->params.capacity_bytes);
	struct sectors range;

	if (offset_bytes >= end_bytes || !fb_unreadable_has_room(m, end_bytes - offset_bytes))
		return;
	range = sectors_of(m, offset_bytes, end_bytes - offset_bytes);
	mark_unreadable(&m->power, &range);
}
