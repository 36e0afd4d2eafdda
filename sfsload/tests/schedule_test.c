// SPDX-License-Identifier: Apache-2.0
/* The schedule: how many calls arrive, of which operations, on which part of which files */
#include <math.h>

#include "chi_square.h"
#include "schedule.h"
#include "test.h"

enum { LOAD = 200 };

static struct fileset set;

static void begin(struct schedule *schedule, const char *mix, uint64_t seed)
{
	fileset_make(&set, seed, LOAD, SCALE_WHOLE / 20);
	schedule_start(schedule, &set, mix_find(mix), seed, LOAD);
}

static void end(struct schedule *schedule)
{
	schedule_free(schedule);
	fileset_free(&set);
}

/* Arrivals are a Poisson process, of which each is several calls at times: its count varies by the square root of the
 * sum of the squares of those. Five standard deviations, of each seed and of all together. */
static void test_calls_arrive_at_the_load_that_is_asked(void)
{
	double all_calls = 0, all_squares = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		double calls = 0, squares = 0;
		struct arrival arrival;
		struct schedule schedule;
		uint64_t last = 0;

		begin(&schedule, "sfs2-v3", seed);
		for (schedule_next(&schedule, &arrival); arrival.at_ns < UINT64_C(100000000000);
		     schedule_next(&schedule, &arrival)) {
			CHECK(arrival.at_ns >= last);
			last = arrival.at_ns;
			calls += arrival_calls(&arrival);
			squares += pow(arrival_calls(&arrival), 2);
		}
		CHECKF(fabs(calls - 100 * LOAD) < 5 * sqrt(squares), "%g calls in 100 s", calls);
		all_calls += calls;
		all_squares += squares;
		end(&schedule);
	}
	CHECKF(fabs(all_calls - 1000 * LOAD) < 5 * sqrt(all_squares), "%g calls in 1000 s", all_calls);
}

/* The deck keeps the counts much closer to the mix than chance would: no kind is off by more than a deck's share and
 * one long transfer */
static void test_calls_are_as_the_mix_has_them(void)
{
	for (unsigned int number = 0; mix_number(number); number++) {
		const struct mix *mix = mix_number(number);
		uint64_t counts[MIX_OPS] = { 0 }, all = 0;
		struct chi_square test;
		struct schedule schedule;
		struct arrival arrival;

		begin(&schedule, mix->name, 1);
		while (all < 20000) {
			schedule_next(&schedule, &arrival);
			counts[arrival.op] += arrival_calls(&arrival);
			all += arrival_calls(&arrival);
		}
		test = chi_square_test(counts, mix->percent, MIX_OPS);
		CHECKF(test.holds && test.statistic < 1, "%s: chi-square %g", mix->name, test.statistic);
		for (int op = 0; op < MIX_OPS; op++)
			CHECKF(fabs((double)counts[op] - (double)all * mix->percent[op] / 100) <=
				       2.0 * mix->percent[op] + 17,
			       "%s: %" PRIu64 " %s", mix->name, counts[op], op_name((enum op)op));
		end(&schedule);
	}
}

/* The order within is chance: a LOOKUP follows a LOOKUP about as often as its share says */
static void test_the_order_is_chance(void)
{
	int lookups = 0, pairs = 0, arrivals = 40000;
	struct schedule schedule;
	struct arrival arrival;
	bool before = false;
	double share;

	begin(&schedule, "sfs2-v3", 1);
	for (int i = 0; i < arrivals; i++) {
		schedule_next(&schedule, &arrival);
		pairs += before && arrival.op == OP_LOOKUP;
		before = arrival.op == OP_LOOKUP;
		lookups += before;
	}
	share = (double)lookups / arrivals;
	CHECKF(fabs((double)pairs / arrivals - share * share) < 0.01, "%d pairs of %d", pairs, lookups);
	end(&schedule);
}

static void test_transfers_lie_in_their_files(void)
{
	uint64_t reads = 0, writes = 0, appends = 0, length[4096];
	struct schedule schedule;
	struct arrival arrival;

	begin(&schedule, "sfs2-v3", 3);
	CHECK(set.accessed < COUNT_OF(length));
	for (uint32_t i = 0; i < set.accessed; i++)
		length[i] = fileset_size(&set, set.accessed_files[i]);
	for (int i = 0; i < 200000; i++) {
		uint64_t end_kb;

		schedule_next(&schedule, &arrival);
		CHECK(arrival.place < set.accessed);
		end_kb = arrival.from_kb + arrival.kb;
		if (arrival.op == OP_READ) {
			reads++;
			CHECK(arrival.kb && arrival.from_kb % BLOCK_KB == 0);
			CHECK(end_kb <= fileset_size(&set, set.accessed_files[arrival.place]));
		} else if (arrival.op == OP_WRITE) {
			writes++;
			appends += arrival.from_kb == length[arrival.place];
			CHECK(arrival.kb && arrival.from_kb <= length[arrival.place]);
			if (end_kb > length[arrival.place])
				length[arrival.place] = end_kb;
		} else {
			CHECK(!arrival.kb);
		}
	}
	CHECK(reads > 10000 && writes > 5000);
	CHECKF(fabs((double)appends / (double)writes - 0.70) < 0.03, "%" PRIu64 " of %" PRIu64 " append", appends,
	       writes);
	end(&schedule);
}

static void test_a_third_of_the_names_are_not_there(void)
{
	int lookups = 0, absent = 0;
	struct schedule schedule;
	struct arrival arrival;

	begin(&schedule, "sfs2-v2", 1);
	while (lookups < 30000) {
		schedule_next(&schedule, &arrival);
		lookups += arrival.op == OP_LOOKUP;
		absent += arrival.op == OP_LOOKUP && arrival.absent;
	}
	CHECKF(abs(absent - 10000) < 400, "%d of %d", absent, lookups);
	end(&schedule);
}

static void test_only_what_is_not_there_is_made_and_what_is_there_removed(void)
{
	bool there[PLAIN_FILES];
	int made = 0;
	struct schedule schedule;
	struct arrival arrival;

	begin(&schedule, "sfs2-v3", 5);
	for (uint32_t i = 0; i < PLAIN_FILES; i++)
		there[i] = plain_file_is_there(i);
	for (int i = 0; i < 100000; i++) {
		schedule_next(&schedule, &arrival);
		if (arrival.op != OP_CREATE && arrival.op != OP_REMOVE)
			continue;
		CHECK(arrival.item < PLAIN_FILES);
		CHECK_EQUAL(arrival.op == OP_REMOVE, there[arrival.item]);
		there[arrival.item] = arrival.op == OP_CREATE;
		made += there[arrival.item];
	}
	CHECK(made > 500);
	end(&schedule);
}

/* As load processes read it: each all of it, keeping its share */
static void test_shares_of_any_number_of_processes_are_the_same_whole(void)
{
	static struct arrival one[2000];
	struct schedule schedule;
	struct arrival arrival;

	begin(&schedule, "sfs2-v3", 9);
	for (size_t i = 0; i < COUNT_OF(one); i++)
		schedule_next(&schedule, &one[i]);
	end(&schedule);
	for (uint32_t parts = 2; parts <= 8; parts *= 2)
		for (uint32_t part = 0; part < parts; part++) {
			begin(&schedule, "sfs2-v3", 9);
			for (size_t i = 0; i < COUNT_OF(one); i++) {
				schedule_next(&schedule, &arrival);
				if (arrival.number % parts == part)
					CHECK(!memcmp(&arrival, &one[i], sizeof(arrival)));
			}
			end(&schedule);
		}
}

const struct test schedule_tests[] = {
	TEST(test_calls_arrive_at_the_load_that_is_asked),
	TEST(test_calls_are_as_the_mix_has_them),
	TEST(test_the_order_is_chance),
	TEST(test_transfers_lie_in_their_files),
	TEST(test_a_third_of_the_names_are_not_there),
	TEST(test_only_what_is_not_there_is_made_and_what_is_there_removed),
	TEST(test_shares_of_any_number_of_processes_are_the_same_whole),
	END_OF_TESTS,
};
