// SPDX-License-Identifier: Apache-2.0
/* The file set has the size of the rules and the shares of the table, and is the same for the same seed and load */
#include "fileset.h"
#include "test.h"

enum { LOAD = 100 };

static void test_ten_mb_for_each_operation_a_second(void)
{
	for (uint32_t load = 10; load <= 1000; load *= 10) {
		uint64_t asked = (uint64_t)load * 10 * 1024;
		struct fileset set;

		fileset_make(&set, 1, load, SCALE_WHOLE);
		CHECKF(set.kb > asked - 1400 && set.kb < asked + 1400, "%" PRIu64 " KB, not %" PRIu64, set.kb, asked);
		CHECK_EQUAL((set.files + 29) / 30, set.directories);
		fileset_free(&set);
	}
}

static void test_sizes_are_those_of_the_table(void)
{
	uint32_t counts[SIZE_CLASSES] = { 0 };
	struct fileset set;
	uint64_t kb = 0;

	fileset_make(&set, 7, LOAD, SCALE_WHOLE);
	for (uint32_t file = 0; file < set.files; file++) {
		counts[set.class[file]]++;
		kb += fileset_size(&set, file);
	}
	for (int i = 0; i < SIZE_CLASSES; i++)
		CHECK_EQUAL(set.files / 100 * size_classes[i].percent, counts[i]);
	CHECK_EQUAL(kb, set.kb);
	fileset_free(&set);
}

static void test_a_tenth_is_accessed(void)
{
	struct fileset set;
	uint64_t kb = 0;

	fileset_make(&set, 7, LOAD, SCALE_WHOLE);
	CHECKF(set.accessed * 10 >= set.files && set.accessed * 10 < set.files + 100, "%u of %u", set.accessed,
	       set.files);
	CHECK(set.accessed_kb * 10 >= set.kb && set.accessed_kb * 100 < set.kb * 11);
	for (uint32_t class = 0; class < SIZE_CLASSES; class++)
		for (uint32_t i = set.first_of_class[class]; i < set.first_of_class[class + 1]; i++) {
			CHECK_EQUAL(class, set.class[set.accessed_files[i]]);
			CHECK(i == set.first_of_class[class] || set.accessed_files[i] > set.accessed_files[i - 1]);
			kb += fileset_size(&set, set.accessed_files[i]);
		}
	CHECK_EQUAL(kb, set.accessed_kb);
	fileset_free(&set);
}

static void test_it_follows_from_seed_load_and_scale_alone(void)
{
	struct fileset a, b, other;

	fileset_make(&a, 1, LOAD, SCALE_WHOLE / 10);
	fileset_make(&b, 1, LOAD, SCALE_WHOLE / 10);
	CHECK_EQUAL(fileset_digest(&a), fileset_digest(&b));
	fileset_make(&other, 2, LOAD, SCALE_WHOLE / 10);
	CHECK(fileset_digest(&a) != fileset_digest(&other));
	CHECK_EQUAL(a.kb, other.kb);
	fileset_free(&other);
	fileset_make(&other, 1, 2 * LOAD, SCALE_WHOLE / 10);
	CHECK(fileset_digest(&a) != fileset_digest(&other));
	fileset_free(&other);
	fileset_free(&a);
	fileset_free(&b);
}

static void test_draws_are_even_among_files_that_are_large_enough(void)
{
	struct fileset set;
	struct random random;
	uint32_t counts[64] = { 0 };

	fileset_make(&set, 1, 1, 1); /* a hundred files, of which 16 are accessed */
	CHECK_EQUAL(16, set.accessed);
	random_start(&random, 1, 1);
	for (int i = 0; i < 160000; i++)
		counts[fileset_draw(&set, 0, &random)]++;
	for (uint32_t i = 0; i < 16; i++)
		CHECKF(counts[i] > 9500 && counts[i] < 10500, "%u", counts[i]);
	for (int i = 0; i < 1000; i++) {
		CHECK(fileset_size(&set, set.accessed_files[fileset_draw(&set, 129, &random)]) >= 129);
		CHECK_EQUAL(1024, fileset_size(&set, set.accessed_files[fileset_draw(&set, 5000, &random)]));
	}
	fileset_free(&set);
}

static void test_links_lead_to_files_of_the_set(void)
{
	struct fileset set;
	char target[PATH_SIZE], name[PATH_SIZE];

	fileset_make(&set, 1, 1, 1);
	target_of_link(&set, target, LINKS - 1);
	name_of_file(name, 95);
	CHECK(!strcmp(target, "../d000003/f00000095"));
	CHECK(!strcmp(name, "f00000095"));
	fileset_free(&set);
}

const struct test fileset_tests[] = {
	TEST(test_ten_mb_for_each_operation_a_second),
	TEST(test_sizes_are_those_of_the_table),
	TEST(test_a_tenth_is_accessed),
	TEST(test_it_follows_from_seed_load_and_scale_alone),
	TEST(test_draws_are_even_among_files_that_are_large_enough),
	TEST(test_links_lead_to_files_of_the_set),
	END_OF_TESTS,
};
