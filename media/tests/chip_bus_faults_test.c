// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A raw chip by the cycles of its bus: wrong bits, what is torn, what is refused, and cycles that make no sense */
#include "chip_bed.h"
#include "chip_support.h"

static void wrong_bits_are_read_and_not_stored(void)
{
	struct fb_params p = sample_large_chip();
	struct chip_bed b;
	u8 bytes[2112];
	u32 ones;

	p.ecc_bits = 1;
	p.bit_error_ppt = 1000000000;	/* 16.4 a page */
	bed_set_up(&b, p);
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
	CHECK_EQUAL(0, ones_in(b.content, sizeof(bytes)));
	ones = ones_in(bytes, sizeof(bytes));
	CHECK(ones > 0 && ones < 40);
	CHECK_EQUAL(ones, fb_medium_counters(b.chip)->wrong_bits);
	bed_tear_down(&b);
}

static void load(struct chip_bed *b, u32 page, const u8 *bytes, u32 count, u8 end)
{
	command(b, 0x80);
	page_address(b, page, 0);
	fb_bus_write(&b->bus, bytes, count);
	command(b, end);
}

/* Page 1 is programmed again while page 0 is, and the power goes: neither has a bit that it had not before */
static void what_was_programmed_before_stays_so(void)
{
	u8 data[2112], mark[2112];
	struct chip_bed b;
	u32 i, set = 0;

	memset(data, 0x5a, sizeof(data));
	memset(mark, 0xff, sizeof(mark));
	mark[2050] = 0;
	bed_set_up(&b, sample_large_chip());
	for (i = 0; i < 2; i++) {
		load(&b, i, data, sizeof(data), 0x10);
		wait_ready(&b);
	}
	load(&b, 0, mark, sizeof(mark), 0x15);
	wait_ready(&b);
	load(&b, 1, mark, sizeof(mark), 0x15);
	fb_bus_cut(&b.bus, b.now_ns + 100000, 1);
	for (i = 0; i < 2 * 2112; i++)
		set += (b.content[i] & ~0x5a) != 0;
	CHECK_EQUAL(0, set);
	for (i = 0; i < 2 * 2112; i++)
		CHECK(i % 2112 == 2050 || b.content[i] == 0x5a);
	bed_tear_down(&b);
}

/* A reset half way through a program, and the power that goes half way through an erase */
static void what_is_under_way_is_torn(void)
{
	static const u8 zeros[2112];
	struct chip_bed b;
	u32 i, ones;

	bed_set_up(&b, sample_large_chip());
	command(&b, 0x80);
	page_address(&b, 0, 0);
	fb_bus_write(&b.bus, zeros, sizeof(zeros));
	command(&b, 0x10);
	b.now_ns += 150000;
	command(&b, 0xff);
	CHECK_EQUAL(5000, wait_ready(&b));
	ones = ones_in(b.content, 2112);
	CHECK(ones > 8448 - 260 && ones < 8448 + 260);	/* half of 16,896, 4 * 65 */
	CHECK_EQUAL(0, fb_medium_counters(b.chip)->restarts);

	memset(b.content + 65 * 2112, 0, 63 * 2112);	/* as if all but its first page had been programmed */
	command(&b, 0x60);
	addresses(&b, 2, 64);
	command(&b, 0xd0);
	fb_bus_cut(&b.bus, b.now_ns + 1000000, 1);
	for (i = 64 * 2112; i < 65 * 2112; i++)
		CHECK_EQUAL(0xff, b.content[i]);
	ones = ones_in(b.content + 65 * 2112, 63 * 2112);
	CHECK(ones > 532224 - 2064 && ones < 532224 + 2064);	/* half of 1,064,448, 4 * 516 */
	CHECK_EQUAL(0xff, b.content[2 * 64 * 2112]);
	fb_power_on(b.chip);
	CHECK_EQUAL(1, fb_medium_counters(b.chip)->restarts);
	bed_tear_down(&b);
}

static void queue_plane(struct chip_bed *b, u32 page)
{
	load_page(b, page);
	command(b, 0x11);
	CHECK_EQUAL(1000, wait_ready(b));
}

/* What the chip refuses takes along what was queued for it: no later operation carries that out */
static void a_refused_operation_forgets_its_planes(void)
{
	static const u8 refused[] = { 0xd0, 0xd1, 0x30, 0x32, 0x31, 0x3f, 0x31,
				      0x3f, 0x31, 0x3f, 0x31, 0x3f, 0x31, 0x3f };
	struct chip_bed b;
	u32 i, at;

	bed_set_up(&b, sample_mlc_chip());
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
	load_page(&b, 2 * 256);
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
	bed_tear_down(&b);
}

/* Whatever comes over the bus, nothing but the chip's content is touched, and its state stays sound */
static void any_cycles_do_no_harm(void)
{
	struct fb_params samples[] = { sample_chip(), sample_large_chip(), sample_mlc_chip() };
	static const u8 commands[] = { 0x00, 0x01, 0x50, 0x30, 0x32, 0x35, 0x31, 0x3f, 0x05, 0x06, 0xe0, 0x80,
				       0x85, 0x10, 0x11, 0x15, 0x60, 0xd0, 0xd1, 0x70, 0x78, 0x90, 0xec, 0xff, 0x77 };
	u64 random = 1;
	u8 bytes[9000];
	struct chip_bed b;
	u32 i, step;

	for (i = 0; i < 3; i++) {
		bed_set_up(&b, samples[i]);
		for (step = 0; step < 20000; step++) {
			u64 chance = next_random(&random) >> 16;

			b.now_ns += chance % 3 * 100000;
			if (step % 5 == 0) {
				load_page(&b, chance / 64 % fb_chip_pages(&b.params));
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
		bed_tear_down(&b);
	}
}

const struct test chip_bus_faults_tests[] = {
	TEST(wrong_bits_are_read_and_not_stored),
	TEST(what_was_programmed_before_stays_so),
	TEST(what_is_under_way_is_torn),
	TEST(a_refused_operation_forgets_its_planes),
	TEST(any_cycles_do_no_harm),
	END_OF_TESTS,
};
