// SPDX-License-Identifier: GPL-2.0-only
/* CFQ's slices, turns, depths and deadlines. Times are ms until they meet the scheduler. */
#include "cfq_bed.h"

#define A_LOT	100

static struct ios_request many[4][A_LOT];

/* `count` requests in a row from `sector` on */
static void add_many(struct ios_request *rqs, int count, u64 sector, bool sync, struct cfq_queue *queue,
		     struct cfq_priority priority, u64 ms)
{
	int i;

	for (i = 0; i < count; i++) {
		rqs[i] = request(sector + 8 * i, 8, sync);
		cfq_add(&cfq, &rqs[i], queue, priority, MS(ms));
	}
}

static void defaults(void)
{
	struct cfq_tunables tunables;

	cfq_default_tunables(&tunables);
	CHECK_EQUAL(8, tunables.quantum);
	CHECK_EQUAL(MS(125), tunables.fifo_expire_sync_ns);
	CHECK_EQUAL(MS(250), tunables.fifo_expire_async_ns);
	CHECK_EQUAL(16384 * 1024 / 512, tunables.sweep.back_max);
	CHECK_EQUAL(2, tunables.sweep.back_penalty);
	CHECK_EQUAL(MS(100), tunables.slice_sync_ns);
	CHECK_EQUAL(MS(40), tunables.slice_async_ns);
	CHECK_EQUAL(2, tunables.slice_async_rq);
	CHECK_EQUAL(MS(8), tunables.slice_idle_ns);
	CHECK_EQUAL(MS(8), tunables.group_idle_ns);
	CHECK(tunables.low_latency);
	CHECK_EQUAL(MS(300), tunables.target_latency_ns);
}

static void slices_are_180_100_40_ms_at_0_4_7(void)
{
	struct cfq_tunables tunables;

	cfq_default_tunables(&tunables);
	CHECK_EQUAL(MS(180), cfq_slice_ns(&tunables, true, 0));
	CHECK_EQUAL(MS(120), cfq_slice_ns(&tunables, true, 3));
	CHECK_EQUAL(MS(100), cfq_slice_ns(&tunables, true, 4));
	CHECK_EQUAL(MS(80), cfq_slice_ns(&tunables, true, 5));
	CHECK_EQUAL(MS(40), cfq_slice_ns(&tunables, true, 7));
	CHECK_EQUAL(MS(72), cfq_slice_ns(&tunables, false, 0));
	CHECK_EQUAL(MS(40), cfq_slice_ns(&tunables, false, 4));
	CHECK_EQUAL(MS(16), cfq_slice_ns(&tunables, false, 7));
}

static void slices_shrink_to_the_target_latency(void)
{
	start_cfq();
	cfq.busy_sync[CFQ_BE] = 3;
	CHECK_EQUAL(MS(100), cfq_scaled_slice_ns(&cfq, &first));
	cfq.busy_sync[CFQ_BE] = 6;	/* 600 ms for a round, 300 wanted */
	CHECK_EQUAL(MS(50), cfq_scaled_slice_ns(&cfq, &first));
	first.priority.level = 0;
	CHECK_EQUAL(MS(90), cfq_scaled_slice_ns(&cfq, &first));
	first.priority.level = CFQ_NORMAL;
	cfq.busy_sync[CFQ_BE] = 100;	/* 3 ms each, but two idle waits at least */
	CHECK_EQUAL(MS(16), cfq_scaled_slice_ns(&cfq, &first));
	cfq.tunables.low_latency = false;
	CHECK_EQUAL(MS(100), cfq_scaled_slice_ns(&cfq, &first));
}

static void queues_take_turns_by_time_slice(void)
{
	u64 ms = 0;
	int i;

	start_cfq();
	add_many(many[0], A_LOT, 0, true, &first, normal, 0);
	add_many(many[1], A_LOT, 5000000, true, &second, normal, 0);
	/* A request each 10 ms, the first completion at 10: the slice is over at 110 */
	for (i = 0; i < 11; i++, ms += 10) {
		CHECK(next_at(ms) == &many[0][i]);
		cfq_complete(&cfq, &many[0][i], MS(ms + 10));
	}
	CHECK_EQUAL(110, ms);
	for (i = 0; i < 11; i++, ms += 10) {
		CHECK(next_at(ms) == &many[1][i]);
		cfq_complete(&cfq, &many[1][i], MS(ms + 10));
	}
	CHECK(next_at(ms) == &many[0][11]);
}

static void a_slice_starts_at_its_first_completion(void)
{
	start_cfq();
	add_many(many[0], 3, 0, true, &first, normal, 0);
	add_many(many[1], 1, 5000000, true, &second, normal, 0);
	CHECK(next_at(0) == &many[0][0]);
	cfq_complete(&cfq, &many[0][0], MS(500));
	CHECK(next_at(599) == &many[0][1]);
	cfq_complete(&cfq, &many[0][1], MS(600));
	CHECK(next_at(600) == &many[1][0]);
}

static void real_time_before_best_effort_before_idle(void)
{
	struct cfq_priority rt = { CFQ_RT, 7 }, be = { CFQ_BE, 7 }, idle = { CFQ_IDLE, 7 };

	start_cfq();
	add_many(many[2], 2, 0, true, &third, idle, 0);
	add_many(many[1], 1, 1000000, true, &second, be, 0);
	add_many(many[0], 1, 2000000, true, &first, rt, 0);
	CHECK(next_at(0) == &many[0][0]);
	cfq_complete(&cfq, &many[0][0], MS(1));
	CHECK(!next_at(1));	/* an idle wait for the first */
	CHECK(next_at(9) == &many[1][0]);
	cfq_complete(&cfq, &many[1][0], MS(10));
	CHECK(!next_at(10));
	CHECK(next_at(18) == &many[2][0]);
	/* The idle class has one request at a time */
	CHECK(!next_at(18));
	cfq_complete(&cfq, &many[2][0], MS(19));
	CHECK(next_at(19) == &many[2][1]);
}

static void a_higher_class_takes_the_slice(void)
{
	struct cfq_priority rt = { CFQ_RT, 4 };

	start_cfq();
	add_many(many[0], 3, 0, true, &first, normal, 0);
	CHECK(next_at(0) == &many[0][0]);
	add_many(many[1], 1, 5000000, true, &second, rt, 1);
	CHECK(next_at(1) == &many[1][0]);
}

static void async_queues_are_shared_by_level(void)
{
	struct cfq_priority low = { CFQ_BE, 7 };

	start_cfq();
	CHECK(cfq_queue_for(&cfq, false, &first, normal) == cfq_queue_for(&cfq, false, &second, normal));
	CHECK(cfq_queue_for(&cfq, false, &first, normal) != cfq_queue_for(&cfq, false, &first, low));
	CHECK(cfq_queue_for(&cfq, true, &first, normal) == &first);
}

static int sent_at_once(u64 ms)
{
	int count = 0;

	while (next_at(ms))
		count++;
	return count;
}

static void a_queue_may_dispatch_quantum_early_and_half_of_it_late(void)
{
	start_cfq();
	add_many(many[0], 50, 0, true, &first, normal, 0);
	add_many(many[1], 1, 5000000, true, &second, normal, 0);
	CHECK_EQUAL(8, sent_at_once(0));
	cfq_complete(&cfq, &many[0][0], MS(10));	/* the slice is over at 110 */
	CHECK_EQUAL(1, sent_at_once(10));
	for (int i = 1; i < 9; i++)
		cfq_complete(&cfq, &many[0][i], MS(11));
	/* Early is: in_flight x slice_idle fit before the end. At 70 + 8 n < 110, n is 4; the fifth does not go out */
	CHECK_EQUAL(5, sent_at_once(70));
	CHECK_EQUAL(0, sent_at_once(80));
}

static void a_lone_queue_dispatches_without_bound(void)
{
	start_cfq();
	add_many(many[0], 50, 0, true, &first, normal, 0);
	CHECK_EQUAL(50, sent_at_once(0));
}

static void async_waits_while_sync_is_in_flight(void)
{
	start_cfq();
	cfq.tunables.slice_idle_ns = 0;
	add_many(many[0], 1, 0, true, &first, normal, 0);
	add_many(many[1], 4, 5000000, false, &second, normal, 0);
	CHECK(next_at(0) == &many[0][0]);
	CHECK(!next_at(1));
	cfq_complete(&cfq, &many[0][0], MS(2));
	CHECK(next_at(2) == &many[1][0]);
}

static void the_async_depth_ramps_up_since_the_last_delayed_sync(void)
{
	start_cfq();
	add_many(many[0], 1, 0, true, &first, normal, 0);
	CHECK(next_at(0) == &many[0][0]);
	cfq_complete(&cfq, &many[0][0], MS(126));	/* late: above 125 ms */
	add_many(many[1], 50, 5000000, false, &second, normal, 126);
	CHECK_EQUAL(0, sent_at_once(133));		/* the idle wait for the first */
	CHECK_EQUAL(1, sent_at_once(134));		/* at least one */
	CHECK_EQUAL(0, sent_at_once(225));		/* 99 ms: none but that */
	CHECK_EQUAL(0, sent_at_once(226));		/* 100 ms: 1 */
	CHECK_EQUAL(1, sent_at_once(326));		/* 200 ms: 2 */
	CHECK_EQUAL(1, sent_at_once(426));
	CHECK_EQUAL(7, sent_at_once(1126));		/* 1 s: 10 */
	cfq.tunables.low_latency = false;
	CHECK_EQUAL(40, sent_at_once(1126));		/* and as many as there are */
}

static void a_sync_request_on_time_delays_no_async(void)
{
	start_cfq();
	add_many(many[0], 1, 0, true, &first, normal, 0);
	CHECK(next_at(0) == &many[0][0]);
	cfq_complete(&cfq, &many[0][0], MS(125));
	add_many(many[1], 50, 5000000, false, &second, normal, 125);
	CHECK_EQUAL(11, sent_at_once(133));		/* 1000 + 133 ms since the start's head start */
}

static void an_async_slice_has_16_requests_at_the_normal_level(void)
{
	struct cfq_tunables tunables;
	int i;

	cfq_default_tunables(&tunables);
	CHECK_EQUAL(32, cfq_slice_async_max(&tunables, 0));
	CHECK_EQUAL(16, cfq_slice_async_max(&tunables, 4));
	CHECK_EQUAL(4, cfq_slice_async_max(&tunables, 7));
	start_cfq();
	add_many(many[0], 50, 0, false, &first, normal, 0);
	add_many(many[1], 50, 5000000, false, &first, (struct cfq_priority) { CFQ_BE, 5 }, 0);
	for (i = 0; i < 16; i++) {
		CHECK(next_at(i) == &many[0][i]);
		cfq_complete(&cfq, &many[0][i], MS(i + 1));
	}
	CHECK(next_at(16) == &many[1][0]);
}

static void sync_takes_the_slice_from_async(void)
{
	start_cfq();
	add_many(many[0], 20, 0, false, &first, normal, 0);
	CHECK(next_at(0) == &many[0][0]);
	cfq_complete(&cfq, &many[0][0], MS(1));
	add_many(many[1], 1, 5000000, true, &second, normal, 1);
	CHECK(next_at(1) == &many[1][0]);
}

static void async_sends_one_in_each_turn(void)
{
	start_cfq();
	cfq.tunables.slice_idle_ns = 0;
	add_many(many[0], 1, 0, true, &first, normal, 0);
	CHECK(next_at(0) == &many[0][0]);
	add_many(many[1], 2, 5000000, false, &second, normal, 0);
	CHECK(!next_at(0));			/* its turn, but a read is in flight */
	add_many(many[2], 1, 8, true, &first, normal, 1);
	CHECK(!next_at(1));
	cfq_complete(&cfq, &many[0][0], MS(2));
	CHECK(next_at(2) == &many[1][0]);
}

static void an_overdue_request_begins_the_slice(void)
{
	struct ios_request old = request(8000000, 8, true), young = request(0, 8, true);

	start_cfq();
	add_at(&old, &first, 0);
	add_at(&young, &first, 100);
	CHECK(next_at(124) == &young);
	start_cfq();
	old = request(8000000, 8, true);
	young = request(0, 8, true);
	add_at(&old, &first, 0);
	add_at(&young, &first, 100);
	CHECK(next_at(125) == &old);
}

static void a_change_of_priority_takes_effect(void)
{
	struct cfq_priority rt = { CFQ_RT, 2 };
	struct ios_request more = request(6000000, 8, true);

	start_cfq();
	add_many(many[0], 2, 0, true, &first, normal, 0);
	add_many(many[1], 2, 5000000, true, &second, normal, 0);
	cfq_add(&cfq, &more, &second, rt, 0);
	CHECK_EQUAL(1, cfq.busy[CFQ_RT]);
	CHECK_EQUAL(1, cfq.busy[CFQ_BE]);
	CHECK(next_at(0) == &many[1][0]);
}

const struct test cfq_tests[] = {
	TEST(defaults),
	TEST(slices_are_180_100_40_ms_at_0_4_7),
	TEST(slices_shrink_to_the_target_latency),
	TEST(queues_take_turns_by_time_slice),
	TEST(a_slice_starts_at_its_first_completion),
	TEST(real_time_before_best_effort_before_idle),
	TEST(a_higher_class_takes_the_slice),
	TEST(async_queues_are_shared_by_level),
	TEST(a_queue_may_dispatch_quantum_early_and_half_of_it_late),
	TEST(a_lone_queue_dispatches_without_bound),
	TEST(async_waits_while_sync_is_in_flight),
	TEST(the_async_depth_ramps_up_since_the_last_delayed_sync),
	TEST(a_sync_request_on_time_delays_no_async),
	TEST(an_async_slice_has_16_requests_at_the_normal_level),
	TEST(sync_takes_the_slice_from_async),
	TEST(async_sends_one_in_each_turn),
	TEST(an_overdue_request_begins_the_slice),
	TEST(a_change_of_priority_takes_effect),
	END_OF_TESTS
};
