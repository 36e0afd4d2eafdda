// SPDX-License-Identifier: GPL-2.0-only
/* What both schedulers share: requests by sector, the elevator, the mean. */
#include "mean.h"
#include "random.h"
#include "sweep.h"
#include "test.h"

#define MANY	2000

static const struct ios_sweep sweep = { .back_max = 1024 * 1024, .back_penalty = 2 };

/* Against the plainest thing that does the same: an array, searched from end to end */
static void requests_are_found_by_sector(void)
{
	static struct ios_request all[MANY];
	static bool inside[MANY];
	struct rb_root_cached tree = RB_ROOT_CACHED;
	u64 random = 7;
	int step, i;

	for (i = 0; i < MANY; i++)
		all[i] = request(fb_xorshift(&random) % 5000, 8, true);
	for (step = 0; step < 5000; step++) {
		u64 at = fb_xorshift(&random) % 5001, from = IOS_NEVER, below = IOS_NEVER;
		struct ios_request *found;

		i = fb_xorshift(&random) % MANY;
		if (inside[i])
			ios_sorted_remove(&tree, &all[i]);
		else
			ios_sorted_add(&tree, &all[i]);
		inside[i] = !inside[i];
		for (i = 0; i < MANY; i++) {
			if (inside[i] && all[i].sector >= at && all[i].sector < from)
				from = all[i].sector;
			if (inside[i] && all[i].sector < at && (below == IOS_NEVER || all[i].sector > below))
				below = all[i].sector;
		}
		found = ios_sorted_from(&tree, at);
		CHECK_EQUAL(from, found ? found->sector : IOS_NEVER);
		found = ios_sorted_below(&tree, at);
		CHECK_EQUAL(below, found ? found->sector : IOS_NEVER);
		CHECK((from == at) == !!ios_sorted_at(&tree, at));
	}
}

static void neighbours_are_in_order(void)
{
	static struct ios_request all[MANY];
	struct ios_request *rq, *before = NULL;
	struct rb_root_cached tree = RB_ROOT_CACHED;
	u64 random = 9;
	int i, count = 0;

	for (i = 0; i < MANY; i++) {
		all[i] = request(fb_xorshift(&random) % 1000, 8, true);
		ios_sorted_add(&tree, &all[i]);
	}
	for (rq = ios_sorted_from(&tree, 0); rq; before = rq, rq = ios_sorted_next(rq), count++) {
		CHECK(!before || before->sector <= rq->sector);
		CHECK(ios_sorted_previous(rq) == before);
	}
	CHECK_EQUAL(MANY, count);
}

/* In the order in which they came, however often others have come and gone between them */
static void requests_at_one_sector_keep_their_order(void)
{
	static struct ios_request all[MANY];
	struct rb_root_cached tree = RB_ROOT_CACHED;
	const struct ios_request *rq, *before = NULL;
	u64 random = 11;
	int i, step, count = 0;

	for (i = 0; i < MANY; i++) {
		all[i] = request(fb_xorshift(&random) % 50, 8, true);
		all[i].arrived_ns = i;
		ios_sorted_add(&tree, &all[i]);
	}
	for (step = 0; step < MANY; step++) {
		i = fb_xorshift(&random) % MANY;
		ios_sorted_remove(&tree, &all[i]);
		all[i].arrived_ns = MANY + step;
		ios_sorted_add(&tree, &all[i]);
	}
	CHECK(ios_sorted_first(&tree) == ios_sorted_from(&tree, 0));
	for (rq = ios_sorted_first(&tree); rq; before = rq, rq = ios_sorted_next(rq), count++) {
		if (!before || before->sector != rq->sector)
			CHECK(ios_sorted_at(&tree, rq->sector) == rq);
		else
			CHECK(before->arrived_ns < rq->arrived_ns);
	}
	CHECK_EQUAL(MANY, count);
}

static u64 chosen(u64 head, u64 one, u64 other)
{
	struct ios_request first = request(one, 8, true), second = request(other, 8, true);
	struct rb_root_cached tree = RB_ROOT_CACHED;

	ios_sorted_add(&tree, &first);
	ios_sorted_add(&tree, &second);
	return ios_sweep_next(&sweep, &tree, head)->sector;
}

static void one_way_elevator(void)
{
	CHECK_EQUAL(1100, chosen(1000, 1100, 1200));
	CHECK_EQUAL(1000, chosen(1000, 1000, 1200));
	/* Nothing ahead and nothing near behind: from the lowest again */
	CHECK_EQUAL(100, chosen(4000000, 100, 200));
}

static void backward_seeks_count_twice(void)
{
	CHECK_EQUAL(950, chosen(1000, 950, 1101));	/* 2 x 50 < 101 */
	CHECK_EQUAL(1100, chosen(1000, 950, 1100));	/* 2 x 50 = 100: forward */
	CHECK_EQUAL(1099, chosen(1000, 950, 1099));
}

static void backward_seeks_end_at_1048576_sectors(void)
{
	u64 head = 10000000;

	CHECK_EQUAL(head - 1048576, chosen(head, head - 1048576, head + 3000000));
	CHECK_EQUAL(head + 3000000, chosen(head, head - 1048577, head + 3000000));
}

static void means_decay_by_7_8(void)
{
	struct ios_mean mean = { 0 };
	int i;

	CHECK(!ios_mean_known(&mean));
	CHECK_EQUAL(0, ios_mean_value(&mean));
	ios_mean_add(&mean, 1000);
	CHECK_EQUAL(1000, ios_mean_value(&mean));
	ios_mean_add(&mean, 0);
	CHECK_EQUAL(467, ios_mean_value(&mean));	/* 7/8 x 1000 / (7/8 + 1) = 466.7 */
	for (i = 0; i < 200; i++)
		ios_mean_add(&mean, 800);
	CHECK_EQUAL(800, ios_mean_value(&mean));
	/* In the long run a sample has an eighth of the weight: 800 + (1600 - 800) / 8 */
	ios_mean_add(&mean, 1600);
	CHECK_EQUAL(900, ios_mean_value(&mean));
}

const struct test common_tests[] = {
	TEST(requests_are_found_by_sector),
	TEST(neighbours_are_in_order),
	TEST(requests_at_one_sector_keep_their_order),
	TEST(one_way_elevator),
	TEST(backward_seeks_count_twice),
	TEST(backward_seeks_end_at_1048576_sectors),
	TEST(means_decay_by_7_8),
	END_OF_TESTS
};
