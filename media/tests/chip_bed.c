// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw chip on a bus of its own, with content; cycles, and pages of bytes that are known */
#include "chip_bed.h"

void bed_set_up(struct chip_bed *b, struct fb_params params)
{
	b->params = params;
	b->chip = new_medium(&params);
	b->content = malloc(fb_content_bytes(&params));
	b->registers = malloc(fb_bus_register_bytes(&params));
	b->now_ns = 0;
	CHECK(b->content && b->registers);
	memset(b->content, 0xff, fb_content_bytes(&params));
	fb_bus_init(&b->bus, b->chip, b->content, b->registers);
}

void bed_tear_down(struct chip_bed *b)
{
	CHECK(!fb_verify(b->chip));
	free(b->chip);
	free(b->content);
	free(b->registers);
}

void command(struct chip_bed *b, u8 command)
{
	fb_bus_command(&b->bus, command, b->now_ns);
}

void addresses(struct chip_bed *b, u32 count, u64 value)
{
	for (; count--; value >>= 8)
		fb_bus_address(&b->bus, value, b->now_ns);
}

void page_address(struct chip_bed *b, u32 page, u32 column)
{
	addresses(b, b->params.page_bytes == 512 ? 1 : 2, column);
	addresses(b, 2, page);
}

u64 wait_ready(struct chip_bed *b)
{
	u64 took_ns = b->bus.ready_ns > b->now_ns ? b->bus.ready_ns - b->now_ns : 0;

	b->now_ns += took_ns;
	return took_ns;
}

u8 next_byte(struct chip_bed *b)
{
	u8 byte;

	fb_bus_read(&b->bus, &byte, 1, b->now_ns);
	return byte;
}

void expected_page(const struct chip_bed *b, u32 page, u8 *bytes)
{
	u64 seed = page + 1000;
	u32 i;

	for (i = 0; i < fb_raw_page_bytes(&b->params); i++)
		bytes[i] = next_random(&seed);
}

void load_page(struct chip_bed *b, u32 page)
{
	u8 bytes[8640];

	expected_page(b, page, bytes);
	command(b, 0x80);
	page_address(b, page, 0);
	fb_bus_write(&b->bus, bytes, fb_raw_page_bytes(&b->params));
}

void check_page(struct chip_bed *b, u32 page)
{
	u8 bytes[8640], wanted[8640];

	expected_page(b, page, wanted);
	fb_bus_read(&b->bus, bytes, fb_raw_page_bytes(&b->params), b->now_ns);
	CHECK(!memcmp(bytes, wanted, fb_raw_page_bytes(&b->params)));
}
