// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The content of pages before the programs and erases that are under way */
#include "chip_before.h"

enum { BEFORE = 2 /* a cached program begins while another is under way */ };

size_t fb_bus_register_bytes(const struct fb_params *p)
{
	return p->planes * (1 + p->pages_per_block + BEFORE) * fb_raw_page_bytes(p);
}

u32 fb_bus_plane(const struct fb_chip_bus *bus, u32 page)
{
	const struct fb_params *p = fb_medium_params(bus->chip);

	return page / (u32)p->pages_per_block % (u32)p->planes;
}

static u8 *register_at(const struct fb_chip_bus *bus, u64 page)
{
	return bus->registers + page * fb_raw_page_bytes(fb_medium_params(bus->chip));
}

u8 *fb_bus_erased(const struct fb_chip_bus *bus, u32 page)
{
	const struct fb_params *p = fb_medium_params(bus->chip);
	u32 pages = (u32)p->pages_per_block;

	return register_at(bus, p->planes + fb_bus_plane(bus, page) * pages + page % pages);
}

static u8 *before_at(const struct fb_chip_bus *bus, u32 plane, u32 turn)
{
	const struct fb_params *p = fb_medium_params(bus->chip);

	return register_at(bus, p->planes * (1 + p->pages_per_block) + plane * BEFORE + turn);
}

u8 *fb_bus_take_before(struct fb_chip_bus *bus, u32 page)
{
	u32 plane = fb_bus_plane(bus, page);

	bus->before_turn[plane] ^= 1;
	bus->before_page[plane][bus->before_turn[plane]] = page;
	return before_at(bus, plane, bus->before_turn[plane]);
}

const u8 *fb_bus_before(const struct fb_chip_bus *bus, u32 page)
{
	u32 plane = fb_bus_plane(bus, page), turn = bus->before_turn[plane];

	return before_at(bus, plane, bus->before_page[plane][turn] == page ? turn : turn ^ 1);
}
