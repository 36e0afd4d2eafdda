// SPDX-License-Identifier: GPL-2.0-only
/* When the anticipatory scheduler waits, and each of the reasons that end the wait. Times are ms. */
#include "as.h"
#include "test.h"

#define END	1000000ULL	/* sector behind the read that completes */
#define FAR	5000000ULL	/* sector that is close to no other */

static struct as_scheduler as;
static struct as_process reader, other, writer;
static struct ios_request done, waiting;

static void add(struct ios_request *rq, struct as_process *process, u64 ms)
{
	as_add(&as, rq, process, MS(ms));
}

static struct ios_request *next(u64 ms)
{
	return as_dispatch(&as, MS(ms));
}

static void start(void)
{
	struct as_tunables tunables;

	as_default_tunables(&tunables);
	as_init(&as, &tunables);
	reader = other = writer = (struct as_process) { 0 };
	done = request(END - 8, 8, true);
	waiting = request(FAR, 8, true);
}

/* The reader's read completes at 100 ms; the other's, far away, came at 99 ms */
static void completed(void)
{
	start();
	add(&done, &reader, 90);
	CHECK(next(90) == &done);
	add(&waiting, &other, 99);
	CHECK(!next(99));
	as_complete(&as, &done, MS(100));
}

/* and the disk is kept idle for the reader */
static void wait_begins(void)
{
	completed();
	CHECK(!next(100));
	CHECK(as.waiting);
}

static void one_read_in_flight(void)
{
	struct ios_request second = request(END, 8, true);

	start();
	add(&done, &reader, 0);
	add(&second, &reader, 0);
	CHECK(next(0) == &done);
	CHECK(!next(1));
	as_complete(&as, &done, MS(2));
	CHECK(next(2) == &second);
}

static void the_wait_starts_at_completion_and_ends_after_antic_expire(void)
{
	wait_begins();
	CHECK_EQUAL(MS(106), as_wake_ns(&as));
	CHECK(!as_dispatch(&as, MS(106) - 1));
	CHECK(next(106) == &waiting);
	CHECK_EQUAL(1, as.ended[AS_EXPIRED]);
}

static void a_request_of_the_same_process_ends_the_wait(void)
{
	struct ios_request second = request(3000000, 8, true);

	wait_begins();
	add(&second, &reader, 103);
	CHECK_EQUAL(1, as.ended[AS_SAME_PROCESS]);
	CHECK(next(103) == &second);
}

static void other_io_of_the_process_ends_the_wait(void)
{
	struct ios_request write = request(100, 8, false);

	wait_begins();
	add(&write, &reader, 102);
	CHECK_EQUAL(1, as.ended[AS_PROCESS_HAS_IO]);
	CHECK(next(102) == &waiting);
}

static void no_wait_while_the_process_has_io_queued(void)
{
	struct ios_request write = request(100, 8, false);

	start();
	add(&done, &reader, 0);
	CHECK(next(0) == &done);
	add(&write, &reader, 1);
	as_complete(&as, &done, MS(2));
	add(&waiting, &other, 2);
	CHECK(next(2) == &waiting);
}

/* A read of another process at `sector`, `ms` after the completion: does it end the wait? */
static bool ends_the_wait(u64 sector, u64 ms)
{
	struct ios_request rq = request(sector, 8, true);

	wait_begins();
	add(&rq, &other, 100 + ms);
	CHECK(!as.waiting == (as.ended[AS_CLOSE] == 1));
	return !as.waiting;
}

static void a_close_request_ends_the_wait(void)
{
	u64 ms;

	for (ms = 0; ms < 6; ms++) {
		CHECK(ends_the_wait(END + (8192 << ms), ms));
		CHECK(!ends_the_wait(END + (8192 << ms) + 1, ms));
	}
	/* Backwards it counts twice */
	CHECK(ends_the_wait(END - 4096, 0));
	CHECK(!ends_the_wait(END - 4097, 0));
}

static void a_request_nearer_than_the_mean_seek_ends_the_wait(void)
{
	struct ios_request first = request(500000, 8, true), nearer = request(END + 400000, 8, true);
	struct ios_request farther = request(END + 499985, 8, true);

	start();
	add(&first, &reader, 0);
	CHECK(next(0) == &first);
	as_complete(&as, &first, MS(1));
	add(&done, &reader, 2);			/* 999992 - 500008 = 499984 sectors away */
	CHECK(next(2) == &done);
	add(&waiting, &other, 3);
	as_complete(&as, &done, MS(4));
	CHECK(!next(4));
	add(&farther, &other, 4);
	CHECK(as.waiting);
	add(&nearer, &other, 4);
	CHECK_EQUAL(1, as.ended[AS_CLOSE]);
	CHECK(next(4) == &nearer);
}

/* A reader that thinks for `think` ms before each read */
static void thinks(u64 think)
{
	static struct ios_request reads[20];
	u64 ms = 1000;
	int i;

	for (i = 0; i < 20; i++) {
		reads[i] = request(8 * i, 8, true);
		add(&reads[i], &reader, ms);
		CHECK(next(ms) == &reads[i]);
		as_complete(&as, &reads[i], MS(ms + 1));
		ms += 1 + think;
	}
}

static void a_mean_think_time_above_antic_expire_is_not_waited_for(void)
{
	u64 now = 1000 + 20 * (1 + 7);

	start();
	thinks(6);
	CHECK_EQUAL(6000, ios_mean_value(&reader.think_ns) / 1000);
	start();
	thinks(7);
	add(&done, &reader, now);
	CHECK(next(now) == &done);
	add(&waiting, &other, now);
	as_complete(&as, &done, MS(now + 1));
	CHECK(next(now + 1) == &waiting);
	CHECK_EQUAL(IOS_NEVER, as_wake_ns(&as));
}

static void think_times_count_20_ms_at_most(void)
{
	start();
	thinks(500);
	CHECK_EQUAL(20, ios_mean_value(&reader.think_ns) / MS(1));
}

static void only_synchronous_requests_are_waited_for(void)
{
	struct ios_request write = request(0, 8, false), read = request(FAR, 8, true);

	start();
	add(&write, &writer, 0);
	CHECK(next(0) == &write);
	as_complete(&as, &write, MS(1));
	add(&read, &other, 1);
	CHECK(next(1) == &read);
}

static void a_wait_keeps_writes_back_too(void)
{
	struct ios_request write = request(2000, 8, false), second = request(END, 8, true);

	start();
	add(&done, &reader, 0);
	CHECK(next(0) == &done);
	add(&write, &writer, 1);
	as_complete(&as, &done, MS(2));
	CHECK(!next(2));
	add(&second, &reader, 4);
	CHECK(next(4) == &second);
	as_complete(&as, &second, MS(5));
	CHECK(!next(5));
	CHECK(next(11) == &write);
}

/* The other's read came at 99 ms and is due at 224; at 223 a wait begins that would last until 229 */
static void an_overdue_read_ends_the_wait(void)
{
	static struct ios_request reads[200];
	int i;

	completed();
	CHECK(!next(100));
	for (i = 0; i < 123; i++) {
		reads[i] = request(END + 8 * i, 8, true);
		add(&reads[i], &reader, 100 + i);
		CHECK(next(100 + i) == &reads[i]);
		as_complete(&as, &reads[i], MS(100 + i + 1));
		CHECK(!next(100 + i + 1));
	}
	CHECK_EQUAL(MS(224), as_wake_ns(&as));
	CHECK(next(224) == &waiting);
	CHECK_EQUAL(1, as.ended[AS_OVERDUE]);
}

/* A process reads once and exits; another reads `distance` sectors behind it, after 1 ms. Was the disk kept for it? */
static bool exit_is_waited_for(u64 *ms, u64 distance)
{
	struct ios_request last = request(END - 8, 8, true), far = request(FAR, 8, true);
	struct ios_request successor = request(END + distance, 8, true);
	bool waited;

	reader = other = (struct as_process) { 0 };
	add(&last, &reader, *ms);
	CHECK(next(*ms) == &last);
	add(&far, &writer, *ms);
	as_complete(&as, &last, MS(*ms + 1));
	as_process_exits(&as, &reader);
	waited = !next(*ms + 1);
	add(&successor, &other, *ms + 2);
	CHECK(!waited || next(*ms + 9));
	as_forget(&as, &far);
	as_forget(&as, &successor);
	as.last = NULL;
	as.waiting = false;
	*ms += 20;
	return waited;
}

static void exits_without_successors_are_learned(void)
{
	u64 ms = 1000;
	int i;

	start();
	/* Nothing is known against waiting; a far successor teaches, and a close one teaches the opposite */
	CHECK(exit_is_waited_for(&ms, 2000000));
	CHECK(!exit_is_waited_for(&ms, 2000000));
	CHECK(!exit_is_waited_for(&ms, 2000000));
	for (i = 0; i < 8; i++)
		exit_is_waited_for(&ms, 100);
	CHECK(exit_is_waited_for(&ms, 100));
}

/* Its memory is gone, which the address sanitizer would notice */
static void a_process_that_has_exited_is_not_looked_at(void)
{
	struct as_process *short_lived = calloc(1, sizeof(*short_lived));
	struct ios_request successor = request(END + 8, 8, true);

	start();
	add(&done, short_lived, 90);
	CHECK(next(90) == &done);
	add(&waiting, &other, 99);
	as_complete(&as, &done, MS(100));
	CHECK(!next(100));
	as_process_exits(&as, short_lived);
	free(short_lived);
	CHECK(!next(101));
	add(&successor, &writer, 102);
	CHECK(next(102) == &successor);
}

/* It exits while its last read is in flight; the read's completion is the last that keeps its memory */
static void a_process_may_exit_before_its_last_read_is_done(void)
{
	struct as_process *short_lived = calloc(1, sizeof(*short_lived));
	struct ios_request successor = request(END + 8, 8, true);

	start();
	add(&done, short_lived, 90);
	CHECK(next(90) == &done);
	as_process_exits(&as, short_lived);
	as_complete(&as, &done, MS(100));
	free(short_lived);
	add(&waiting, &other, 101);
	CHECK(!next(101));
	CHECK_EQUAL(MS(106), as_wake_ns(&as));
	add(&successor, &writer, 102);
	CHECK(next(102) == &successor);
}

const struct test as_wait_tests[] = {
	TEST(one_read_in_flight),
	TEST(the_wait_starts_at_completion_and_ends_after_antic_expire),
	TEST(a_request_of_the_same_process_ends_the_wait),
	TEST(other_io_of_the_process_ends_the_wait),
	TEST(no_wait_while_the_process_has_io_queued),
	TEST(a_close_request_ends_the_wait),
	TEST(a_request_nearer_than_the_mean_seek_ends_the_wait),
	TEST(a_mean_think_time_above_antic_expire_is_not_waited_for),
	TEST(think_times_count_20_ms_at_most),
	TEST(only_synchronous_requests_are_waited_for),
	TEST(a_wait_keeps_writes_back_too),
	TEST(an_overdue_read_ends_the_wait),
	TEST(exits_without_successors_are_learned),
	TEST(a_process_that_has_exited_is_not_looked_at),
	TEST(a_process_may_exit_before_its_last_read_is_done),
	END_OF_TESTS
};
