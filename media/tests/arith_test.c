// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Divisors, roots and sums of arith.h */
#include "arith.h"
#include "test.h"

static void check(const struct fb_divisor *d, u64 number)
{
	CHECK_EQUAL(number / d->by, fb_quotient(d, number));
	CHECK_EQUAL(number % d->by, fb_remainder(d, number));
}

/* Every divisor that a geometry has, at and beside the multiples where a wrong reciprocal shows, and beyond 32 bits */
static void quotients_are_those_of_a_division(void)
{
	u64 by, seed = 3;
	int i;

	for (by = 1; by < 70000; by += 1 + by / 300) {
		struct fb_divisor d = fb_divisor(by);
		u64 last = 0xffffffffull / by * by;

		check(&d, 0);
		check(&d, by - 1);
		check(&d, by);
		check(&d, last - 1);
		check(&d, last);
		check(&d, 0xffffffffull);
		check(&d, 0x100000000ull);
		check(&d, ~(u64)0);
		for (i = 0; i < 50; i++) {
			check(&d, next_random(&seed) >> 32);
			check(&d, (next_random(&seed) >> 32) / by * by);
		}
	}
}

const struct test arith_tests[] = {
	TEST(quotients_are_those_of_a_division),
	END_OF_TESTS,
};
