// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw chip by the cycles of its bus: content, columns, identity, and that the times are those of fb_chip.h */
#include "chip_bed.h"

static void large_pages_come_back(void)
{
	struct chip_bed b;

	bed_set_up(&b, sample_large_chip());
	load_page(&b, 70);
	command(&b, 0x10);
	CHECK_EQUAL(300000, wait_ready(&b));
	command(&b, 0x70);
	CHECK_EQUAL(0xe0, next_byte(&b));
	command(&b, 0x00);
	page_address(&b, 70, 0);
	command(&b, 0x30);
	CHECK_EQUAL(25000, wait_ready(&b));
	check_page(&b, 70);
	CHECK_EQUAL(0xff, next_byte(&b));	/* behind the last column */

	/* 05h-E0h: the spare area, without another tR */
	command(&b, 0x05);
	addresses(&b, 2, 2048);
	command(&b, 0xe0);
	CHECK_EQUAL(0, wait_ready(&b));
	CHECK_EQUAL(b.content[70 * 2112 + 2048], next_byte(&b));

	command(&b, 0x60);
	addresses(&b, 2, 64);
	command(&b, 0xd0);
	command(&b, 0x70);
	CHECK_EQUAL(0x80, next_byte(&b));	/* busy */
	CHECK_EQUAL(2000000, wait_ready(&b));
	CHECK_EQUAL(0xff, b.content[70 * 2112]);
	bed_tear_down(&b);
}

/* 00h, 01h and 50h point to the halves of a small page and to its spare area; 01h holds for one operation */
static void small_pages_are_read_from_three_areas(void)
{
	struct chip_bed b;
	u8 wanted[528];

	bed_set_up(&b, sample_chip());
	expected_page(&b, 33, wanted);
	command(&b, 0x00);
	load_page(&b, 33);
	command(&b, 0x10);
	CHECK_EQUAL(200000, wait_ready(&b));
	command(&b, 0x00);
	page_address(&b, 33, 0);
	CHECK_EQUAL(15000, wait_ready(&b));
	check_page(&b, 33);
	command(&b, 0x01);
	page_address(&b, 33, 3);
	CHECK_EQUAL(15000, wait_ready(&b));
	CHECK_EQUAL(wanted[259], next_byte(&b));
	command(&b, 0x50);
	page_address(&b, 33, 5);
	wait_ready(&b);
	CHECK_EQUAL(wanted[517], next_byte(&b));

	/* Behind 50h, 80h counts from the spare area: only that byte is programmed */
	command(&b, 0x80);
	page_address(&b, 34, 5);
	fb_bus_write(&b.bus, (const u8[]) { 0 }, 1);
	command(&b, 0x10);
	wait_ready(&b);
	CHECK_EQUAL(0, b.content[34 * 528 + 517]);
	CHECK_EQUAL(0xff, b.content[34 * 528 + 516]);
	CHECK_EQUAL(0xff, b.content[34 * 528 + 5]);
	CHECK_EQUAL(0, fb_chip_breaches(b.chip));
	bed_tear_down(&b);
}

/* By where the address points, whatever is transferred then: a page, and of the next page its spare area */
static void the_spare_area_alone_is_counted_apart(void)
{
	const struct fb_params chips[] = { sample_chip(), sample_large_chip() };
	const struct fb_counters *c;
	struct chip_bed b;
	u32 i, page;

	for (i = 0; i < 2; i++) {
		bed_set_up(&b, chips[i]);
		for (page = 0; page < 2; page++) {
			u32 column = page && b.params.page_bytes > 512 ? b.params.page_bytes : 0;

			command(&b, page && !column ? 0x50 : 0x00);
			command(&b, 0x80);
			page_address(&b, page, column);
			fb_bus_write(&b.bus, (const u8[]) { 0 }, 1);
			command(&b, 0x10);
			wait_ready(&b);
			command(&b, page && !column ? 0x50 : 0x00);
			page_address(&b, page, column);
			if (b.params.page_bytes > 512)
				command(&b, 0x30);
			wait_ready(&b);
			CHECK_EQUAL(0, next_byte(&b));
		}
		c = fb_medium_counters(b.chip);
		CHECK_EQUAL(2, c->flash_programmed_pages);
		CHECK_EQUAL(1, c->spare_programmed_pages);
		CHECK_EQUAL(2, c->flash_read_pages);
		CHECK_EQUAL(1, c->spare_read_pages);
		bed_tear_down(&b);
	}
}

static void a_program_clears_bits_and_sets_none(void)
{
	struct chip_bed b;

	bed_set_up(&b, sample_large_chip());
	command(&b, 0x80);
	page_address(&b, 0, 10);
	fb_bus_write(&b.bus, (const u8[]) { 0xf0, 0x3c }, 2);
	command(&b, 0x85);	/* and another part of the page */
	addresses(&b, 2, 100);
	fb_bus_write(&b.bus, (const u8[]) { 0x55 }, 1);
	command(&b, 0x10);
	CHECK_EQUAL(300000, wait_ready(&b));
	command(&b, 0x80);
	page_address(&b, 0, 11);
	fb_bus_write(&b.bus, (const u8[]) { 0xcf }, 1);
	command(&b, 0x10);
	wait_ready(&b);
	CHECK_EQUAL(0xf0, b.content[10]);
	CHECK_EQUAL(0x0c, b.content[11]);
	CHECK_EQUAL(0x55, b.content[100]);
	CHECK_EQUAL(0xff, b.content[12]);
	CHECK_EQUAL(2, fb_medium_counters(b.chip)->flash_programmed_pages);

	/* 10h and D0h alone do nothing */
	command(&b, 0x10);
	command(&b, 0xd0);
	CHECK_EQUAL(0, wait_ready(&b));
	CHECK_EQUAL(0, fb_chip_breaches(b.chip));
	bed_tear_down(&b);
}

/* 63,360 ns of bus a page: fb_chip.h's times, and the content of the page before the one that is sensed */
static void cached_reads_give_page_after_page(void)
{
	struct chip_bed b;
	u32 page;

	bed_set_up(&b, sample_large_chip());
	for (page = 0; page < 4; page++) {
		load_page(&b, page);
		command(&b, page < 3 ? 0x15 : 0x10);
		wait_ready(&b);
	}
	CHECK_EQUAL(4 * 300000 + 3 * 3000, b.now_ns);
	command(&b, 0x00);
	page_address(&b, 0, 0);
	command(&b, 0x30);
	CHECK_EQUAL(25000, wait_ready(&b));
	for (page = 0; page < 4; page++) {
		command(&b, page < 3 ? 0x31 : 0x3f);
		CHECK_EQUAL(3000, wait_ready(&b));
		check_page(&b, page);
		b.now_ns += 63360;
	}
	CHECK_EQUAL(4, fb_medium_counters(b.chip)->flash_read_pages);
	CHECK_EQUAL(0, fb_chip_breaches(b.chip));
	bed_tear_down(&b);
}

static void planes_have_registers_of_their_own(void)
{
	struct chip_bed b;

	bed_set_up(&b, sample_mlc_chip());
	load_page(&b, 0);
	command(&b, 0x11);
	CHECK_EQUAL(1000, wait_ready(&b));
	load_page(&b, 256);
	command(&b, 0x10);
	CHECK_EQUAL(1300000, wait_ready(&b));
	command(&b, 0x00);
	page_address(&b, 0, 0);
	command(&b, 0x32);
	CHECK_EQUAL(1000, wait_ready(&b));
	command(&b, 0x00);
	page_address(&b, 256, 0);
	command(&b, 0x30);
	CHECK_EQUAL(50000, wait_ready(&b));
	check_page(&b, 256);
	command(&b, 0x06);
	page_address(&b, 0, 0);
	command(&b, 0xe0);
	check_page(&b, 0);

	command(&b, 0x60);
	addresses(&b, 2, 0);
	command(&b, 0xd1);
	CHECK_EQUAL(1000, wait_ready(&b));
	command(&b, 0x60);
	addresses(&b, 2, 256);
	command(&b, 0xd0);
	CHECK_EQUAL(3000000, wait_ready(&b));
	CHECK_EQUAL(0xff, b.content[0]);
	CHECK_EQUAL(0xff, b.content[256 * 8640]);
	CHECK_EQUAL(0, fb_chip_breaches(b.chip));
	bed_tear_down(&b);
}

/* 00h-35h, 85h-10h, with one byte changed on the way */
static void copy_back_moves_a_page(void)
{
	struct chip_bed b;

	bed_set_up(&b, sample_large_chip());
	load_page(&b, 0);
	command(&b, 0x10);
	wait_ready(&b);
	command(&b, 0x00);
	page_address(&b, 0, 0);
	command(&b, 0x35);
	CHECK_EQUAL(25000, wait_ready(&b));
	command(&b, 0x85);
	page_address(&b, 64, 7);
	fb_bus_write(&b.bus, (const u8[]) { 0x42 }, 1);
	command(&b, 0x10);
	CHECK_EQUAL(300000, wait_ready(&b));
	CHECK_EQUAL(0x42, b.content[64 * 2112 + 7]);
	CHECK(!memcmp(b.content, b.content + 64 * 2112, 7));
	CHECK(!memcmp(b.content + 8, b.content + 64 * 2112 + 8, 2104));
	bed_tear_down(&b);
}

static void the_chip_says_what_it_is(void)
{
	struct fb_params p = sample_large_chip();
	struct chip_bed b;
	u8 id[10];

	p.manufacturer_id = 0x2c;
	p.device_id = 0xda;
	p.id_extension = 0x1580;
	bed_set_up(&b, p);
	command(&b, 0x90);
	addresses(&b, 1, 0);
	fb_bus_read(&b.bus, id, sizeof(id), 0);
	CHECK(!memcmp(id, (const u8[]) { 0x2c, 0xda, 0x80, 0x15, 0, 0, 0, 0, 0, 0 }, sizeof(id)));
	command(&b, 0x90);
	addresses(&b, 1, 0x20);
	CHECK_EQUAL(0, next_byte(&b));		/* no ONFI */
	bed_tear_down(&b);
}

/* Offsets of the specification, revision 2.2; the checksum goes over all but itself, so with it the rest is zero */
static void the_parameter_page_is_as_onfi_says(void)
{
	struct fb_params p = sample_mlc_chip();
	struct chip_bed b;
	u8 page[3 * 256];
	u32 crc = 0x4f4e, i, bit;

	p.onfi = 1;
	p.endurance_erases = 5000;
	bed_set_up(&b, p);
	command(&b, 0x90);
	addresses(&b, 1, 0x20);
	CHECK_EQUAL('O', next_byte(&b));
	command(&b, 0xec);
	addresses(&b, 1, 0);
	CHECK_EQUAL(50000, wait_ready(&b));
	fb_bus_read(&b.bus, page, sizeof(page), b.now_ns);
	CHECK(!memcmp(page, "ONFI", 4));
	CHECK(!memcmp(page, page + 256, 256) && !memcmp(page, page + 512, 256));
	CHECK_EQUAL(8192, page[80] | page[81] << 8);
	CHECK_EQUAL(448, page[84] | page[85] << 8);
	CHECK_EQUAL(256, page[92] | page[93] << 8);
	CHECK_EQUAL(8, page[96]);
	CHECK_EQUAL(1, page[100]);
	CHECK_EQUAL(0x22, page[101]);
	CHECK_EQUAL(2, page[102]);
	CHECK_EQUAL(50, page[105]);
	CHECK_EQUAL(2, page[106]);
	for (i = 0; i < 254; i++)
		for (bit = 8; bit--;)
			crc = (crc << 1 ^ ((crc >> 15 ^ page[i] >> bit) & 1 ? 0x8005 : 0)) & 0xffff;
	CHECK_EQUAL(crc, page[254] | page[255] << 8);
	bed_tear_down(&b);
}

const struct test chip_bus_tests[] = {
	TEST(large_pages_come_back),
	TEST(small_pages_are_read_from_three_areas),
	TEST(the_spare_area_alone_is_counted_apart),
	TEST(a_program_clears_bits_and_sets_none),
	TEST(cached_reads_give_page_after_page),
	TEST(planes_have_registers_of_their_own),
	TEST(copy_back_moves_a_page),
	TEST(the_chip_says_what_it_is),
	TEST(the_parameter_page_is_as_onfi_says),
	END_OF_TESTS,
};
