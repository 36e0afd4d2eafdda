// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What a power cut tears on a raw chip: programs, erases, the lower page of an upper one */
#include "chip_support.h"
#include "fb_power.h"

static void a_cut_tears_what_is_under_way(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];
	struct fb_medium *m = new_medium(&p);
	u32 i, ones;
	u8 content[2112], erased[2112];

	memset(erased, 0xff, sizeof(erased));
	program_page(m, 0, 0);
	CHECK_EQUAL(0, fb_chip_cut(m, 300000, torn));
	free(m);

	/* Page 0 has 225,000 of 300,000 ns behind it, page 1 waits */
	m = new_medium(&p);
	CHECK_EQUAL(3000, program_page_cached(m, 0, 0));
	CHECK_EQUAL(306000, program_page_cached(m, 1, 100000));
	CHECK_EQUAL(2, fb_chip_cut(m, 228000, torn));
	CHECK_EQUAL(FB_CHIP_PROGRAM, torn[0].op);
	CHECK_EQUAL(0, torn[0].span.page);
	CHECK_EQUAL(768, torn[0].done);
	CHECK_EQUAL(1, torn[1].span.page);
	CHECK_EQUAL(0, torn[1].done);

	/* Of 16,896 bits that were to be cleared, a quarter is not: 4,224 +- 4 * 56; what was set before stays */
	memset(content, 0, sizeof(content));
	fb_chip_tear(&p, &torn[0], 0, 1, erased, content);
	ones = ones_in(content, sizeof(content));
	CHECK(ones > 4224 - 225 && ones < 4224 + 225);
	memset(content, 0, sizeof(content));
	fb_chip_tear(&p, &torn[1], 1, 1, erased, content);
	for (i = 0; i < sizeof(content); i++)
		CHECK_EQUAL(0xff, content[i]);

	CHECK(fb_off(m));
	fb_power_on(m);
	CHECK(!fb_off(m));
	CHECK_EQUAL(1, fb_medium_counters(m)->restarts);
	CHECK(!fb_verify(m));
	free(m);
}

/* A mark that is programmed into a page of data (0xff but in one byte) clears bits of that byte or none */
static void a_torn_program_sets_no_bit(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_chip_torn torn = { FB_CHIP_PROGRAM, 512, { 4, 0, 2112 } };
	u8 before[2112], content[2112];
	u32 seed, i;

	memset(before, 0x5a, sizeof(before));
	for (seed = 1; seed <= 200; seed++) {
		memcpy(content, before, sizeof(content));
		content[2050] = 0;
		fb_chip_tear(&p, &torn, 4, seed, before, content);
		for (i = 0; i < sizeof(content); i++)
			CHECK(i == 2050 ? !(content[i] & ~0x5a) : content[i] == 0x5a);
	}
}

/* Only the bytes of the program that was under way change */
static void a_torn_part_leaves_the_rest(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_chip_torn torn = { FB_CHIP_PROGRAM, 0, { 4, 512, 512 } };
	u8 content[2112], erased[2112];
	u32 i;

	memset(erased, 0xff, sizeof(erased));
	memset(content, 0x5a, sizeof(content));
	fb_chip_tear(&p, &torn, 4, 7, erased, content);
	for (i = 0; i < sizeof(content); i++)
		CHECK_EQUAL(i >= 512 && i < 1024 ? 0xff : 0x5a, content[i]);
}

static void a_half_erased_block_must_be_erased_again(void)
{
	struct fb_params p = sample_large_chip();
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];
	struct fb_medium *m = new_medium(&p);
	u8 content[2112];
	u32 i, ones;

	fb_chip_erase(m, 2, 0);
	CHECK_EQUAL(1, fb_chip_cut(m, 1000000, torn));
	CHECK_EQUAL(FB_CHIP_ERASE, torn[0].op);
	CHECK_EQUAL(2 * 64, torn[0].span.page);
	CHECK_EQUAL(512, torn[0].done);
	memset(content, 0, sizeof(content));
	fb_chip_tear(&p, &torn[0], 2 * 64, 1, NULL, content);
	ones = ones_in(content, sizeof(content));
	CHECK(ones > 8448 - 260 && ones < 8448 + 260);	/* half of 16,896, 4 * 65 */
	memset(content, 0xff, sizeof(content));
	fb_chip_tear(&p, &torn[0], 2 * 64, 1, NULL, content);
	for (i = 0; i < sizeof(content); i++)
		CHECK_EQUAL(0xff, content[i]);
	fb_power_on(m);
	CHECK(!fb_verify(m));
	for (i = 0; i < 8; i++)
		program_page(m, 2 * 64, i * 300000);
	CHECK_EQUAL(FB_CHIP_TOO_OFTEN, fb_chip_breach(m));
	fb_chip_erase(m, 2, 3000000);
	program_page(m, 2 * 64, 5000000);
	CHECK_EQUAL(FB_CHIP_KEPT, fb_chip_breach(m));
	free(m);
}

static void a_torn_upper_page_takes_its_lower_page_along(void)
{
	struct fb_params p = sample_mlc_chip();
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];
	struct fb_medium *m = new_medium(&p);

	program_page(m, 0, 0);
	program_page(m, 1, 1300000);
	CHECK_EQUAL(2, fb_chip_cut(m, 2000000, torn));
	CHECK_EQUAL(1, torn[0].span.page);
	CHECK_EQUAL(FB_CHIP_PROGRAM, torn[0].op);
	CHECK_EQUAL(0, torn[1].span.page);
	CHECK_EQUAL(FB_CHIP_READ, torn[1].op);
	CHECK_EQUAL(8640, torn[1].span.bytes);
	free(m);
}

const struct test chip_torn_tests[] = {
	TEST(a_cut_tears_what_is_under_way),
	TEST(a_torn_program_sets_no_bit),
	TEST(a_torn_part_leaves_the_rest),
	TEST(a_half_erased_block_must_be_erased_again),
	TEST(a_torn_upper_page_takes_its_lower_page_along),
	END_OF_TESTS,
};
