// SPDX-License-Identifier: Apache-2.0
/* The published tables, and draws by them */
#include <math.h>

#include "chi_square.h"
#include "mix.h"
#include "sizes.h"
#include "test.h"

static void test_each_mix_is_whole(void)
{
	unsigned int many = 0;

	for (const struct mix *mix; (mix = mix_number(many)); many++) {
		unsigned int sum = 0;

		for (int op = 0; op < MIX_OPS; op++)
			sum += mix->percent[op];
		CHECK_EQUAL(100, sum);
		CHECK(mix_find(mix->name) == mix);
		CHECK(mix->version == 3 || (!mix->percent[OP_READDIRPLUS] && !mix->percent[OP_ACCESS] &&
					    !mix->percent[OP_COMMIT] && !mix->percent[OP_FSINFO]));
	}
	CHECK_EQUAL(3, many);
	CHECK(!mix_find("sfs"));
	CHECK(mix_of_version(2) == mix_find("sfs2-v2") && mix_of_version(3) == mix_find("sfs2-v3"));
}

static void test_tables_are_whole(void)
{
	unsigned int sizes = 0, reads = 0, writes = 0;

	for (int i = 0; i < SIZE_CLASSES; i++) {
		sizes += size_classes[i].percent;
		CHECK(!i || size_classes[i].kb > size_classes[i - 1].kb);
	}
	for (int i = 0; i < TRANSFER_CLASSES; i++) {
		reads += read_classes[i].percent;
		writes += write_classes[i].percent;
	}
	CHECK(sizes == 100 && reads == 100 && writes == 100);
	CHECK_EQUAL(85 + 8 * 3 + 4 * 5 + 2 * 9 + 17, transfer_calls_of_100(read_classes));
	CHECK_EQUAL(49 + 36 * 2 + 8 * 3 + 4 * 5 + 2 * 9 + 17, transfer_calls_of_100(write_classes));
}

/* Many draws against the table, at 95 %; the fragments within are even */
static void check_draws(const struct transfer_class *classes, uint64_t seed)
{
	uint64_t counts[TRANSFER_CLASSES] = { 0 }, fragments[FRAGMENT_KB] = { 0 };
	uint8_t percent[TRANSFER_CLASSES];
	struct chi_square test;
	struct random random;
	double fragmented = 0;
	uint64_t calls = 0;

	random_start(&random, seed, 1);
	for (int i = 0; i < TRANSFER_CLASSES; i++)
		percent[i] = classes[i].percent;
	for (int i = 0; i < 200000; i++) {
		uint32_t kb = transfer_draw(classes, &random), at = 0;

		calls += transfer_calls(kb);
		while (kb < classes[at].blocks * 8u + classes[at].fragment ||
		       kb > classes[at].blocks * 8u + classes[at].fragment * 7u)
			CHECKF(++at < TRANSFER_CLASSES, "%u KB", kb);
		counts[at]++;
		if (classes[at].fragment)
			fragments[kb % 8 - 1]++;
	}
	test = chi_square_test(counts, percent, TRANSFER_CLASSES);
	CHECKF(test.tested && test.holds, "chi-square %g, critical %g", test.statistic, test.critical);
	for (int i = 0; i < FRAGMENT_KB; i++)
		fragmented += (double)fragments[i];
	for (int i = 0; i < FRAGMENT_KB; i++)
		CHECKF(fabs((double)fragments[i] - fragmented / FRAGMENT_KB) < 5 * sqrt(fragmented / FRAGMENT_KB),
		       "%" PRIu64 " of %g fragments have %d KB", fragments[i], fragmented, i + 1);
	CHECK(calls > 1980 * transfer_calls_of_100(classes) && calls < 2020 * transfer_calls_of_100(classes));
}

static void test_draws_of_transfers(void)
{
	check_draws(read_classes, 1);
	check_draws(write_classes, 2);
}

const struct test tables_tests[] = {
	TEST(test_each_mix_is_whole),
	TEST(test_tables_are_whole),
	TEST(test_draws_of_transfers),
	END_OF_TESTS,
};
