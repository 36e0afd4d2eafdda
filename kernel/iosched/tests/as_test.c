// SPDX-License-Identifier: GPL-2.0-only
/* Batches, deadlines and the sweep of the anticipatory scheduler. Times are ms until they meet the scheduler. */
#include "as.h"
#include "test.h"

static struct as_scheduler as;
static struct as_process reader, writer, other;

#define WRITES_MAX_HERE 64

static void start(u64 antic_ms)
{
	struct as_tunables tunables;

	as_default_tunables(&tunables);
	tunables.antic_expire_ns = MS(antic_ms);
	as_init(&as, &tunables);
	reader = writer = other = (struct as_process) { 0 };
}

static void add(struct ios_request *rq, struct as_process *process, u64 ms)
{
	as_add(&as, rq, process, MS(ms));
}

static struct ios_request *next(u64 ms)
{
	return as_dispatch(&as, MS(ms));
}

static void defaults(void)
{
	struct as_tunables tunables;

	as_default_tunables(&tunables);
	CHECK_EQUAL(MS(125), tunables.expire_ns[AS_READ]);
	CHECK_EQUAL(MS(250), tunables.expire_ns[AS_WRITE]);
	CHECK_EQUAL(MS(500), tunables.batch_expire_ns[AS_READ]);
	CHECK_EQUAL(MS(125), tunables.batch_expire_ns[AS_WRITE]);
	CHECK_EQUAL(MS(6), tunables.antic_expire_ns);
}

static void batches_alternate(void)
{
	struct ios_request reads[3], writes[40];
	int i;

	start(0);
	for (i = 0; i < 3; i++) {
		reads[i] = request(1000 + 8 * i, 8, true);
		add(&reads[i], &reader, 0);
	}
	for (i = 0; i < 40; i++) {
		writes[i] = request(5000 + 8 * i, 8, false);
		add(&writes[i], &writer, 0);
	}
	CHECK(next(0) == &reads[0]);
	as_complete(&as, &reads[0], MS(499));
	CHECK(next(499) == &reads[1]);
	as_complete(&as, &reads[1], MS(500));
	/* 500 ms after the writes came: theirs now, 12 of them or 125 ms */
	for (i = 0; i < 12; i++) {
		CHECK(next(500) == &writes[i]);
		as_complete(&as, &writes[i], MS(500));
	}
	CHECK(next(501) == &reads[2]);
	as_complete(&as, &reads[2], MS(502));
	CHECK(next(502) == &writes[12]);
}

static void the_old_batch_finishes_first(void)
{
	struct ios_request read = request(0, 8, true), writes[2] = { request(100, 8, false), request(200, 8, false) };

	start(6);
	add(&writes[0], &writer, 0);
	add(&writes[1], &writer, 0);
	CHECK(next(0) == &writes[0]);
	CHECK(next(0) == &writes[1]);
	add(&read, &reader, 1);
	CHECK(!next(1));
	as_complete(&as, &writes[0], MS(2));
	CHECK(!next(2));
	as_complete(&as, &writes[1], MS(3));
	CHECK(next(3) == &read);
}

static void the_read_batch_clock_runs_only_while_writes_wait(void)
{
	struct ios_request reads[3], write = request(9000, 8, false);
	int i;

	start(0);
	for (i = 0; i < 3; i++) {
		reads[i] = request(1000 + 8 * i, 8, true);
		add(&reads[i], &reader, 0);
	}
	CHECK(next(0) == &reads[0]);
	as_complete(&as, &reads[0], MS(10000));
	add(&write, &writer, 10000);
	CHECK(next(10499) == &reads[1]);	/* 500 ms from the write on */
	as_complete(&as, &reads[1], MS(10500));
	CHECK(next(10500) == &write);
	as_complete(&as, &write, MS(10501));
	CHECK(next(10501) == &reads[2]);
}

static void an_expired_request_interrupts_the_sweep(void)
{
	struct ios_request old = request(10, 8, true), ahead[3];
	int i;

	start(0);
	for (i = 0; i < 3; i++)
		ahead[i] = request(3000000 + 8 * i, 8, true);
	add(&ahead[0], &reader, 0);
	CHECK(next(0) == &ahead[0]);
	add(&old, &other, 1);
	add(&ahead[1], &reader, 100);
	add(&ahead[2], &reader, 100);
	CHECK(next(125) == &ahead[1]);
	CHECK(next(126) == &old);		/* 1 + 125 ms */
	CHECK(next(127) == &ahead[2]);		/* and the sweep goes on from there */
}

static void expiry_is_looked_at_once_in_its_time(void)
{
	struct ios_request first = request(3000000, 8, true), old[2], ahead[3];
	int i;

	start(0);
	add(&first, &reader, 0);
	CHECK(next(0) == &first);
	old[0] = request(10, 8, true);
	old[1] = request(2000000, 8, true);
	add(&old[0], &other, 1);
	add(&old[1], &other, 1);
	for (i = 0; i < 3; i++) {
		ahead[i] = request(100 + 8 * i, 8, true);
		add(&ahead[i], &reader, 100);
	}
	CHECK(next(126) == &old[0]);
	CHECK(next(127) == &ahead[0]);		/* not the other old one: it is far away */
	CHECK(next(250) == &ahead[1]);
	CHECK(next(251) == &old[1]);		/* 126 + 125 */
}

static void expiry_is_looked_at_within_the_direction(void)
{
	struct ios_request reads[2] = { request(0, 8, true), request(8, 8, true) };
	struct ios_request write = request(9000, 8, false);

	start(0);
	add(&reads[0], &reader, 0);
	add(&write, &writer, 0);
	CHECK(next(0) == &reads[0]);
	as_complete(&as, &reads[0], MS(1));
	add(&reads[1], &reader, 400);
	/* The write is 150 ms past its deadline, but the batch is one of reads */
	CHECK(next(400) == &reads[1]);
	as_complete(&as, &reads[1], MS(401));
	CHECK(next(401) == &write);
}

/* One batch of writes that takes `ms`, with a read waiting at its end */
static void write_batch(u64 ms)
{
	static struct ios_request writes[WRITES_MAX_HERE], read;
	u32 count = as.writes_allowed, i;

	CHECK(count < WRITES_MAX_HERE);
	for (i = 0; i <= count; i++) {
		writes[i] = request(8 * i, 8, false);
		as_add(&as, &writes[i], &writer, 0);
	}
	for (i = 0; i < count; i++)
		CHECK(as_dispatch(&as, 0) == &writes[i]);
	read = request(0, 8, true);
	as_add(&as, &read, &reader, 0);
	CHECK(!as_dispatch(&as, 0));
	for (i = 0; i < count; i++)
		as_complete(&as, &writes[i], MS(ms));
	CHECK(as_dispatch(&as, MS(ms)) == &read);
	as_complete(&as, &read, MS(ms));
	as_forget(&as, &writes[count]);
}

static void the_write_batch_adapts(void)
{
	start(0);
	CHECK_EQUAL(12, as.writes_allowed);
	write_batch(124);	/* a little too fast */
	CHECK_EQUAL(13, as.writes_allowed);
	write_batch(126);	/* a little too slow */
	CHECK_EQUAL(12, as.writes_allowed);
	write_batch(41);	/* three times too fast: 3 x 41 = 123 */
	CHECK_EQUAL(24, as.writes_allowed);
	write_batch(42);	/* 3 x 42 = 126 */
	CHECK_EQUAL(25, as.writes_allowed);
	write_batch(376);	/* three times too slow: 3 x 125 = 375 */
	CHECK_EQUAL(12, as.writes_allowed);
	write_batch(125);
	CHECK_EQUAL(12, as.writes_allowed);
}

static void a_write_batch_has_one_request_at_least(void)
{
	int i;

	start(0);
	for (i = 0; i < 6; i++)
		write_batch(1000);
	CHECK_EQUAL(1, as.writes_allowed);
}

static void without_anticipation_it_is_like_deadline(void)
{
	struct ios_request reads[3], far = request(5000000, 8, true);
	int i;

	start(0);
	for (i = 0; i < 3; i++) {
		reads[i] = request(8 * i, 8, true);
		add(&reads[i], &reader, 0);
	}
	/* As many reads in flight as come */
	for (i = 0; i < 3; i++)
		CHECK(next(0) == &reads[i]);
	for (i = 0; i < 3; i++)
		as_complete(&as, &reads[i], MS(1));
	/* and no wait after them */
	add(&far, &other, 1);
	CHECK(next(1) == &far);
	CHECK_EQUAL(IOS_NEVER, as_wake_ns(&as));
}

static void a_merged_request_brings_its_deadline(void)
{
	struct ios_request old = request(108, 8, true), young = request(100, 8, true);
	struct ios_request ahead = request(9000000, 8, true);
	struct ios_request first = request(8000000, 8, true);

	start(0);
	add(&first, &reader, 0);
	CHECK(next(0) == &first);
	add(&old, &other, 0);
	add(&ahead, &reader, 50);
	add(&young, &other, 100);
	as_absorb(&as, &young, &old);
	as_resize(&as, &young, 100, 16);
	CHECK_EQUAL(IOS_OUTSIDE, old.where);
	CHECK(next(125) == &young);
	CHECK_EQUAL(116, as.head);
}

const struct test as_tests[] = {
	TEST(defaults),
	TEST(batches_alternate),
	TEST(the_old_batch_finishes_first),
	TEST(the_read_batch_clock_runs_only_while_writes_wait),
	TEST(an_expired_request_interrupts_the_sweep),
	TEST(expiry_is_looked_at_once_in_its_time),
	TEST(expiry_is_looked_at_within_the_direction),
	TEST(the_write_batch_adapts),
	TEST(a_write_batch_has_one_request_at_least),
	TEST(without_anticipation_it_is_like_deadline),
	TEST(a_merged_request_brings_its_deadline),
	END_OF_TESTS
};
