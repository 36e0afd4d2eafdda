// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw chip by the cycles of its bus: content, columns, identity, and that the times are those of fb_chip.h */
#include "fb_chip_bus.h"
#include "samples.h"
#include "test.h"

struct bed {
	struct fb_params params;
	struct fb_medium *chip;
	u8 *content;
	u8 *registers;
	u64 now_ns;
	struct fb_chip_bus bus;
};

static void set_up(struct bed *b, struct fb_params params)
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

static void tear_down(struct bed *b)
{
	CHECK(!fb_verify(b->chip));
	free(b->chip);
	free(b->content);
	free(b->registers);
}

static void command(struct bed *b, u8 command)
{
	fb_bus_command(&b->bus, command, b->now_ns);
}

static void addresses(struct bed *b, u32 count, u64 value)
{
	for (; count--; value >>= 8)
		fb_bus_address(&b->bus, value, b->now_ns);
}

/* Two cycles of column and three of row are the most; these chips have two of row */
static void page_address(struct bed *b, u32 page, u32 column)
{
	addresses(b, b->params.page_bytes == 512 ? 1 : 2, column);
	addresses(b, 2, page);
}

/* Waits until the chip is ready; returns how long that took */
static u64 wait_ready(struct bed *b)
{
	u64 took_ns = b->bus.ready_ns > b->now_ns ? b->bus.ready_ns - b->now_ns : 0;

	b->now_ns += took_ns;
	return took_ns;
}

static u8 next_byte(struct bed *b)
{
	u8 byte;

	fb_bus_read(&b->bus, &byte, 1, b->now_ns);
	return byte;
}

static void fill(u8 *bytes, u32 count, u64 seed)
{
	while (count--)
		*bytes++ = next_random(&seed);
}

/* A whole page of bytes that follow from its number */
static void expected(const struct bed *b, u32 page, u8 *bytes)
{
	fill(bytes, fb_raw_page_bytes(&b->params), page + 1000);
}

static void load(struct bed *b, u32 page)
{
	u8 bytes[8640];

	expected(b, page, bytes);
	command(b, 0x80);
	page_address(b, page, 0);
	fb_bus_write(&b->bus, bytes, fb_raw_page_bytes(&b->params));
}

static void check_page(struct bed *b, u32 page)
{
	u8 bytes[8640], wanted[8640];

	expected(b, page, wanted);
	fb_bus_read(&b->bus, bytes, fb_raw_page_bytes(&b->params), b->now_ns);
	CHECK(!memcmp(bytes, wanted, fb_raw_page_bytes(&b->params)));
}

static void large_pages_come_back(void)
{
	struct bed b;

	set_up(&b, sample_large_chip());
	load(&b, 70);
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
	tear_down(&b);
}

/* 00h, 01h and 50h point to the halves of a small page and to its spare area; 01h holds for one operation */
static void small_pages_are_read_from_three_areas(void)
{
	struct bed b;
	u8 wanted[528];

	set_up(&b, sample_chip());
	expected(&b, 33, wanted);
	command(&b, 0x00);
	load(&b, 33);
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
	tear_down(&b);
}

static void a_program_clears_bits_and_sets_none(void)
{
	struct bed b;

	set_up(&b, sample_large_chip());
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
	tear_down(&b);
}

/* 63,360 ns of bus a page: fb_chip.h's times, and the content of the page before the one that is sensed */
static void cached_reads_give_page_after_page(void)
{
	struct bed b;
	u32 page;

	set_up(&b, sample_large_chip());
	for (page = 0; page < 4; page++) {
		load(&b, page);
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
	tear_down(&b);
}

static void planes_have_registers_of_their_own(void)
{
	struct bed b;

	set_up(&b, sample_mlc_chip());
	load(&b, 0);
	command(&b, 0x11);
	CHECK_EQUAL(1000, wait_ready(&b));
	load(&b, 256);
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
	tear_down(&b);
}

/* 00h-35h, 85h-10h, with one byte changed on the way */
static void copy_back_moves_a_page(void)
{
	struct bed b;

	set_up(&b, sample_large_chip());
	load(&b, 0);
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
	tear_down(&b);
}

static void the_chip_says_what_it_is(void)
{
	struct fb_params p = sample_large_chip();
	struct bed b;
	u8 id[10];

	p.manufacturer_id = 0x2c;
	p.device_id = 0xda;
	p.id_extension = 0x1580;
	set_up(&b, p);
	command(&b, 0x90);
	addresses(&b, 1, 0);
	fb_bus_read(&b.bus, id, sizeof(id), 0);
	CHECK(!memcmp(id, (const u8[]) { 0x2c, 0xda, 0x80, 0x15, 0, 0, 0, 0, 0, 0 }, sizeof(id)));
	command(&b, 0x90);
	addresses(&b, 1, 0x20);
	CHECK_EQUAL(0, next_byte(&b));		/* no ONFI */
	tear_down(&b);
}

/* Offsets of the specification, revision 2.2; the checksum goes over all but itself, so with it the rest is zero */
static void the_parameter_page_is_as_onfi_says(void)
{
	struct fb_params p = sample_mlc_chip();
	struct bed b;
	u8 page[3 * 256];
	u32 crc = 0x4f4e, i, bit;

	p.onfi = 1;
	p.endurance_erases = 5000;
	set_up(&b, p);
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
	tear_down(&b);
}

static void wrong_bits_are_read_and_not_stored(void)
{
	struct fb_params p = sample_large_chip();
	struct bed b;
	u8 bytes[2112];
	u32 i, ones = 0;

	p.ecc_bits = 1;
	p.bit_error_ppt = 1000000000;	/* 16.4 a page */
	set_up(&b, p);
	command(&b, 0x80);
	page_address(&b, 0, 0);
	memset(bytes, 0, sizeof(bytes));
	fb_bus_write(&b.bus, bytes, sizeof(bytes));
	command(&b, 0x10);
	wait_ready(&b);
	command(&b, 0x00);
	page_address(&b, 0, 0);
	command(&b, 0x30);
	wait_ready(&b);
	fb_bus_read(&b.bus, bytes, sizeof(bytes), b.now_ns);
	for (i = 0; i < sizeof(bytes); i++) {
		ones += __builtin_popcount(bytes[i]);
		CHECK_EQUAL(0, b.content[i]);
	}
	CHECK(ones > 0 && ones < 40);
	CHECK_EQUAL(ones, fb_medium_counters(b.chip)->wrong_bits);
	tear_down(&b);
}

/* A reset half way through a program, and the power that goes half way through an erase */
static void what_is_under_way_is_torn(void)
{
	static const u8 zeros[2112];
	struct bed b;
	u32 i, ones = 0;

	set_up(&b, sample_large_chip());
	command(&b, 0x80);
	page_address(&b, 0, 0);
	fb_bus_write(&b.bus, zeros, sizeof(zeros));
	command(&b, 0x10);
	b.now_ns += 150000;
	command(&b, 0xff);
	CHECK_EQUAL(5000, wait_ready(&b));
	for (i = 0; i < 2112; i++)
		ones += __builtin_popcount(b.content[i]);
	CHECK(ones > 8448 - 260 && ones < 8448 + 260);	/* half of 16,896, 4 * 65 */
	CHECK_EQUAL(0, fb_medium_counters(b.chip)->restarts);

	memset(b.content + 65 * 2112, 0, 63 * 2112);	/* as if all but its first page had been programmed */
	command(&b, 0x60);
	addresses(&b, 2, 64);
	command(&b, 0xd0);
	fb_bus_cut(&b.bus, b.now_ns + 1000000, 1);
	for (i = 64 * 2112; i < 65 * 2112; i++)
		CHECK_EQUAL(0xff, b.content[i]);
	ones = 0;
	for (; i < 2 * 64 * 2112; i++)
		ones += __builtin_popcount(b.content[i]);
	CHECK(ones > 532224 - 2064 && ones < 532224 + 2064);	/* half of 1,064,448, 4 * 516 */
	CHECK_EQUAL(0xff, b.content[2 * 64 * 2112]);
	fb_power_on(b.chip);
	CHECK_EQUAL(1, fb_medium_counters(b.chip)->restarts);
	tear_down(&b);
}

static void queue_plane(struct bed *b, u32 page)
{
	load(b, page);
	command(b, 0x11);
	CHECK_EQUAL(1000, wait_ready(b));
}

/* What the chip refuses takes along what was queued for it: no later operation carries that out */
static void a_refused_operation_forgets_its_planes(void)
{
	static const u8 refused[] = { 0xd0, 0xd1, 0x30, 0x32, 0x31, 0x3f, 0x31,
				      0x3f, 0x31, 0x3f, 0x31, 0x3f, 0x31, 0x3f };
	struct bed b;
	u32 i, at;

	set_up(&b, sample_mlc_chip());
	for (i = 0; i < sizeof(refused); i++) {
		u8 last = refused[i];

		queue_plane(&b, 256);
		if (last != 0x31 && last != 0x3f) {
			command(&b, last >= 0xd0 ? 0x60 : 0x00);
			addresses(&b, last >= 0xd0 ? 2 : 4, last >= 0xd0 ? 2 * 256 : 2 * 256 << 16);
		}
		command(&b, last);
		CHECK_EQUAL(i + 1, fb_chip_breaches(b.chip));
	}
	load(&b, 2 * 256);
	command(&b, 0x10);
	CHECK_EQUAL(1300000, wait_ready(&b));
	command(&b, 0x60);
	addresses(&b, 2, 4 * 256);
	command(&b, 0xd0);
	CHECK_EQUAL(3000000, wait_ready(&b));
	CHECK_EQUAL(1, fb_medium_counters(b.chip)->flash_programmed_pages);
	CHECK_EQUAL(1, fb_medium_counters(b.chip)->flash_erased_blocks);
	for (at = 0; at < 8640; at++)
		CHECK_EQUAL(0xff, b.content[256 * 8640 + at]);
	tear_down(&b);
}

/* Whatever comes over the bus, nothing but the chip's content is touched, and its state stays sound */
static void any_cycles_do_no_harm(void)
{
	struct fb_params samples[] = { sample_chip(), sample_large_chip(), sample_mlc_chip() };
	static const u8 commands[] = { 0x00, 0x01, 0x50, 0x30, 0x32, 0x35, 0x31, 0x3f, 0x05, 0x06, 0xe0, 0x80,
				       0x85, 0x10, 0x11, 0x15, 0x60, 0xd0, 0xd1, 0x70, 0x78, 0x90, 0xec, 0xff, 0x77 };
	u64 random = 1;
	u8 bytes[9000];
	struct bed b;
	u32 i, step;

	for (i = 0; i < 3; i++) {
		set_up(&b, samples[i]);
		for (step = 0; step < 20000; step++) {
			u64 chance = next_random(&random) >> 16;

			b.now_ns += chance % 3 * 100000;
			if (step % 5 == 0) {
				load(&b, chance / 64 % fb_chip_pages(&b.params));
				command(&b, (const u8[]) { 0x10, 0x11, 0x15 }[chance / 16 % 3]);
				continue;
			}
			switch (chance / 16 % 4) {
			case 0:
				command(&b, commands[chance / 64 % sizeof(commands)]);
				break;
			case 1:
				page_address(&b, chance / 64 % 2100, chance / 262144 % 9000);
				break;
			case 2:
				fb_bus_write(&b.bus, bytes, chance / 64 % sizeof(bytes));
				break;
			case 3:
				fb_bus_read(&b.bus, bytes, chance / 64 % sizeof(bytes), b.now_ns);
				break;
			}
		}
		CHECK(fb_medium_counters(b.chip)->flash_programmed_pages > 10);
		tear_down(&b);
	}
}

const struct test chip_bus_tests[] = {
	TEST(large_pages_come_back),
	TEST(small_pages_are_read_from_three_areas),
	TEST(a_program_clears_bits_and_sets_none),
	TEST(cached_reads_give_page_after_page),
	TEST(planes_have_registers_of_their_own),
	TEST(copy_back_moves_a_page),
	TEST(the_chip_says_what_it_is),
	TEST(the_parameter_page_is_as_onfi_says),
	TEST(wrong_bits_are_read_and_not_stored),
	TEST(what_is_under_way_is_torn),
	TEST(a_refused_operation_forgets_its_planes),
	TEST(any_cycles_do_no_harm),
	END_OF_TESTS
};
