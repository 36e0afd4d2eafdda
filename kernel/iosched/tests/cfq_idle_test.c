// SPDX-License-Identifier: GPL-2.0-only
/* When CFQ keeps the disk idle, and for whom. Times are ms until they meet the scheduler. */
#include "cfq_bed.h"

#define FAR	5000000ULL

static void the_disk_waits_slice_idle_for_a_sequential_process(void)
{
	struct ios_request one = request(0, 8, true), two = request(8, 8, true), far = request(FAR, 8, true);

	start_cfq();
	add_at(&one, &first, 0);
	CHECK(next_at(0) == &one);
	add_at(&far, &second, 1);
	CHECK(!next_at(1));			/* the wait begins when the request is done */
	cfq_complete(&cfq, &one, MS(5));
	CHECK(!next_at(5));
	CHECK_EQUAL(MS(13), cfq_wake_ns(&cfq));
	CHECK(!next_at(12));
	add_at(&two, &first, 12);
	CHECK(next_at(12) == &two);
	cfq_complete(&cfq, &two, MS(14));
	CHECK(!next_at(21));
	CHECK(next_at(22) == &far);
}

static void no_wait_beyond_the_slice(void)
{
	struct ios_request one = request(0, 8, true), two = request(8, 8, true), far = request(FAR, 8, true);

	start_cfq();
	add_at(&one, &first, 0);
	CHECK(next_at(0) == &one);
	add_at(&far, &second, 0);
	cfq_complete(&cfq, &one, MS(1));
	add_at(&two, &first, 1);
	CHECK(next_at(1) == &two);
	cfq_complete(&cfq, &two, MS(97));	/* the slice ends at 101 */
	CHECK(!next_at(97));
	CHECK_EQUAL(MS(101), cfq_wake_ns(&cfq));
	CHECK(next_at(101) == &far);
}

static void no_wait_for_one_who_thinks_longer(void)
{
	struct ios_request reads[10], far = request(FAR, 8, true);
	u64 ms = 0;
	int i;

	start_cfq();
	for (i = 0; i < 10; i++, ms += 10) {
		reads[i] = request(8 * i, 8, true);
		add_at(&reads[i], &first, ms);
		CHECK(next_at(ms) == &reads[i]);
		cfq_complete(&cfq, &reads[i], MS(ms + 1));
	}
	CHECK_EQUAL(9000, ios_mean_value(&first.think_ns) / 1000);
	add_at(&far, &second, 91);
	CHECK(next_at(91) == &far);
}

static void no_wait_for_one_who_would_come_after_the_slice(void)
{
	struct ios_request reads[20], far = request(FAR, 8, true);
	u64 ms = 0;
	int i;

	start_cfq();
	/* 1 ms each, and 5 ms of think time; the slice ends at 101 */
	for (i = 0; i < 17; i++, ms += 6) {
		reads[i] = request(8 * i, 8, true);
		add_at(&reads[i], &first, ms);
		CHECK(next_at(ms) == &reads[i]);
		cfq_complete(&cfq, &reads[i], MS(ms + 1));
	}
	CHECK_EQUAL(5, ios_mean_value(&first.think_ns) / MS(1));
	add_at(&far, &second, 97);				/* the next would come at 102 */
	CHECK(next_at(97) == &far);
}

static void seeky_when_more_than_4_of_32_jumped_over_800_sectors(void)
{
	struct ios_request rq;
	u64 sector = 0;
	int i;

	start_cfq();
	for (i = 0; i < 32; i++) {
		sector += i % 8 ? 800 : 801;		/* 4 of 32, the first of all does not count: 3 */
		rq = request(sector, 8, true);
		cfq_learn(&cfq, &first, &rq, 0);
		sector += 8;
	}
	CHECK(!cfq_is_seeky(&first));
	for (i = 0; i < 32; i++) {
		CHECK(!cfq_is_seeky(&first));
		sector += i % 8 ? 0 : 801;		/* 4 of 32 */
		rq = request(sector, 8, true);
		cfq_learn(&cfq, &first, &rq, 0);
		sector += 8;
	}
	CHECK(!cfq_is_seeky(&first));
	rq = request(sector - 8 - 809, 8, true);	/* backwards too; it pushes one of the four out */
	cfq_learn(&cfq, &first, &rq, 0);
	CHECK(!cfq_is_seeky(&first));
	rq = request(0, 8, true);
	cfq_learn(&cfq, &first, &rq, 0);
	CHECK(cfq_is_seeky(&first));			/* 5 */
}

static void make_seeky(struct cfq_queue *queue)
{
	queue->seeks = 0x1f;
	queue->has_sent = true;
	queue->more_follows = true;
}

static void seeky_queues_share_one_wait(void)
{
	struct ios_request one = request(0, 8, true), two = request(FAR, 8, true);
	struct ios_request three = request(2 * FAR, 8, true), write = request(3 * FAR, 8, false);

	start_cfq();
	make_seeky(&first);
	make_seeky(&second);
	add_at(&one, &first, 0);
	add_at(&two, &second, 0);
	add_at(&write, &third, 0);
	CHECK(next_at(0) == &one);
	CHECK(next_at(0) == &two);		/* no wait between them */
	cfq_complete(&cfq, &one, MS(5));
	CHECK(!next_at(5));
	cfq_complete(&cfq, &two, MS(6));
	CHECK(!next_at(6));		/* the last of them is dry: a wait before the writes */
	add_at(&three, &first, 8);
	CHECK(next_at(8) == &three);	/* that any of them ends */
	cfq_complete(&cfq, &three, MS(9));
	CHECK(!next_at(16));
	CHECK(next_at(17) == &write);
}

static void slice_idle_0_waits_for_nobody(void)
{
	struct ios_request one = request(0, 8, true), far = request(FAR, 8, true);

	start_cfq();
	cfq.tunables.slice_idle_ns = 0;
	add_at(&one, &first, 0);
	add_at(&far, &second, 0);
	CHECK(next_at(0) == &one);
	CHECK(next_at(0) == &far);
}

static void leftovers_of_others_go_before_a_process_that_is_waited_for(void)
{
	struct ios_request write = request(FAR, 8, false), one = request(0, 8, true);

	start_cfq();
	add_at(&write, &second, 0);
	CHECK(next_at(0) == &write);
	add_at(&one, &first, 1);
	CHECK(!next_at(1));
	cfq_complete(&cfq, &write, MS(2));
	CHECK(next_at(2) == &one);
}

static void a_deep_medium_without_seeks_is_not_kept_idle(void)
{
	struct ios_request one = request(0, 8, true), far = request(FAR, 8, true);

	start_cfq();
	cfq.cheap_seeks = true;
	CHECK(!cfq_idles_alone(&cfq, &first) || first.more_follows);
	add_at(&one, &first, 0);
	CHECK(cfq_idles_alone(&cfq, &first));
	cfq.max_in_flight = 5;
	CHECK(!cfq_idles_alone(&cfq, &first));
	add_at(&far, &second, 0);
	CHECK(next_at(0) == &one);
	CHECK(next_at(0) == &far);
}

/* Its memory is gone, which the address sanitizer would notice */
static void a_process_that_has_exited_is_not_looked_at(void)
{
	struct cfq_queue *short_lived = malloc(sizeof(*short_lived));
	struct ios_request one = request(0, 8, true), far = request(FAR, 8, true);

	start_cfq();
	cfq_queue_init(short_lived, true);
	add_at(&one, short_lived, 0);
	CHECK(next_at(0) == &one);
	cfq_complete(&cfq, &one, MS(1));
	add_at(&far, &second, 1);
	CHECK(!next_at(1));
	cfq_process_exits(&cfq, short_lived);
	free(short_lived);
	CHECK(next_at(1) == &far);
}

const struct test cfq_idle_tests[] = {
	TEST(the_disk_waits_slice_idle_for_a_sequential_process),
	TEST(no_wait_beyond_the_slice),
	TEST(no_wait_for_one_who_thinks_longer),
	TEST(no_wait_for_one_who_would_come_after_the_slice),
	TEST(seeky_when_more_than_4_of_32_jumped_over_800_sectors),
	TEST(seeky_queues_share_one_wait),
	TEST(slice_idle_0_waits_for_nobody),
	TEST(leftovers_of_others_go_before_a_process_that_is_waited_for),
	TEST(a_deep_medium_without_seeks_is_not_kept_idle),
	TEST(a_process_that_has_exited_is_not_looked_at),
	END_OF_TESTS
};
