// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both schedulers under load on a simple disk: nothing is lost, nothing gets stuck, nobody starves, and a process that
 * reads in sequence is not torn between two places.
 */
#include "as.h"
#include "cfq.h"
#include "random.h"
#include "test.h"

#define DEPTH		4		/* requests that the disk takes */
#define SLOTS		256
#define PROCESSES	6

/* What this file needs of a scheduler */
struct driver {
	void (*start)(u64 now);
	void (*add)(struct ios_request *rq, int process, u64 now);
	struct ios_request *(*dispatch)(u64 now);
	void (*complete)(struct ios_request *rq, u64 now);
	void (*exits)(int process);
	u64 (*wake_ns)(void);
	u32 (*queued)(void);
};

static struct as_scheduler as;
static struct as_process as_processes[PROCESSES];
static struct cfq_scheduler cfq;
static struct cfq_queue cfq_processes[PROCESSES];

static void as_start(u64 now)
{
	struct as_tunables tunables;

	(void)now;
	as_default_tunables(&tunables);
	as_init(&as, &tunables);
	memset(as_processes, 0, sizeof(as_processes));
}

static void as_driver_add(struct ios_request *rq, int process, u64 now)
{
	as_add(&as, rq, &as_processes[process], now);
}

static struct ios_request *as_driver_dispatch(u64 now)
{
	return as_dispatch(&as, now);
}

static void as_driver_complete(struct ios_request *rq, u64 now)
{
	as_complete(&as, rq, now);
}

static void as_driver_exits(int process)
{
	as_process_exits(&as, &as_processes[process]);
	as_processes[process].exited = false;	/* its place is taken by a new one */
}

static u64 as_driver_wake_ns(void)
{
	return as_wake_ns(&as);
}

static u32 as_driver_queued(void)
{
	return as_queued(&as);
}

static void cfq_start(u64 now)
{
	struct cfq_tunables tunables;
	int i;

	cfq_default_tunables(&tunables);
	cfq_init(&cfq, &tunables, now);
	for (i = 0; i < PROCESSES; i++)
		cfq_queue_init(&cfq_processes[i], true);
}

static void cfq_driver_add(struct ios_request *rq, int process, u64 now)
{
	/* The first three are alike, for the sequential loads; the others are not, for the random one */
	static const struct cfq_priority priorities[PROCESSES] = {
		{ CFQ_BE, 4 }, { CFQ_BE, 4 }, { CFQ_BE, 4 }, { CFQ_BE, 7 }, { CFQ_RT, 0 }, { CFQ_IDLE, 7 },
	};

	cfq_add(&cfq, rq, &cfq_processes[process], priorities[process], now);
}

static struct ios_request *cfq_driver_dispatch(u64 now)
{
	return cfq_dispatch(&cfq, now);
}

static void cfq_driver_complete(struct ios_request *rq, u64 now)
{
	cfq_complete(&cfq, rq, now);
}

static void cfq_driver_exits(int process)
{
	cfq_process_exits(&cfq, &cfq_processes[process]);
	cfq_processes[process].exited = false;
}

static u64 cfq_driver_wake_ns(void)
{
	return cfq_wake_ns(&cfq);
}

static u32 cfq_driver_queued(void)
{
	return cfq.queued;
}

static const struct driver anticipatory = {
	as_start, as_driver_add, as_driver_dispatch, as_driver_complete, as_driver_exits, as_driver_wake_ns,
	as_driver_queued,
};

static const struct driver fair = {
	cfq_start, cfq_driver_add, cfq_driver_dispatch, cfq_driver_complete, cfq_driver_exits, cfq_driver_wake_ns,
	cfq_driver_queued,
};

/* A disk: requests one after another, 0.1 ms each, and 8 ms more where one does not follow the last */
struct disk {
	struct ios_request *taken[DEPTH];
	u64 done_ns[DEPTH];
	int count;
	u64 free_ns, head, seeks;
};

static void disk_take(struct disk *disk, struct ios_request *rq, u64 now)
{
	u64 begin = disk->free_ns > now ? disk->free_ns : now;
	u64 seek = rq->sector == disk->head ? 0 : MS(8);

	disk->seeks += seek ? 1 : 0;
	disk->free_ns = begin + seek + MS(1) / 10;
	disk->head = ios_end(rq);
	disk->taken[disk->count] = rq;
	disk->done_ns[disk->count++] = disk->free_ns;
}

static struct ios_request *disk_give(struct disk *disk)
{
	struct ios_request *rq = disk->taken[0];

	disk->count--;
	memmove(disk->taken, disk->taken + 1, disk->count * sizeof(disk->taken[0]));
	memmove(disk->done_ns, disk->done_ns + 1, disk->count * sizeof(disk->done_ns[0]));
	return rq;
}

/* Lets the scheduler fill the disk. It may hold back only if a completion or a time will make it go on */
static void fill(const struct driver *driver, struct disk *disk, u64 now)
{
	struct ios_request *rq;

	while (disk->count < DEPTH) {
		rq = driver->dispatch(now);
		if (!rq) {
			CHECK(!driver->queued() || disk->count || driver->wake_ns() != IOS_NEVER);
			CHECK(!driver->queued() || driver->wake_ns() > now);
			return;
		}
		CHECK_EQUAL(IOS_IN_FLIGHT, rq->where);
		disk_take(disk, rq, now);
	}
}

static u64 earlier(u64 one, u64 other)
{
	return one < other ? one : other;
}

static void random_load(const struct driver *driver, u64 seed)
{
	static struct ios_request slots[SLOTS];
	struct disk disk = { .head = 0 };
	u64 now = MS(1000), arrival = now, left = 20000, sent = 0, done = 0, random = seed;
	int i;

	for (i = 0; i < SLOTS; i++)
		slots[i] = request(0, 8, true);
	driver->start(now);
	while (left || done < sent) {
		u64 completion = disk.count ? disk.done_ns[0] : IOS_NEVER;
		u64 wake = driver->queued() && disk.count < DEPTH ? driver->wake_ns() : IOS_NEVER;

		now = earlier(earlier(completion, wake), left ? arrival : IOS_NEVER);
		CHECK(now != IOS_NEVER);
		if (now == completion) {
			driver->complete(disk_give(&disk), now);
			done++;
		} else if (left && now == arrival) {
			i = fb_xorshift(&random) % SLOTS;
			if (slots[i].where == IOS_OUTSIDE) {
				slots[i] = request(fb_xorshift(&random) % 1000000, 8, fb_xorshift(&random) % 3);
				driver->add(&slots[i], fb_xorshift(&random) % PROCESSES, now);
				sent++;
			}
			if (fb_xorshift(&random) % 64 == 0)
				driver->exits(fb_xorshift(&random) % PROCESSES);
			arrival += fb_xorshift(&random) % MS(16);
			left--;
		}
		fill(driver, &disk, now);
	}
	CHECK_EQUAL(0, driver->queued());
	CHECK(sent > 10000);
}

static void anticipatory_loses_nothing_and_never_sticks(void)
{
	u64 seed;

	for (seed = 1; seed <= 5; seed++)
		random_load(&anticipatory, seed);
}

static void cfq_loses_nothing_and_never_sticks(void)
{
	u64 seed;

	for (seed = 1; seed <= 5; seed++)
		random_load(&fair, seed);
}

/* Two processes read 8 sectors at a time in sequence, each its own region, the next 0.2 ms after the last was done, for
 * 10 s; with `writer`, a third has always 32 asynchronous requests queued, in sequence too.
 */
struct outcome {
	u64 reads[2], writes, seeks, worst_read_ns, worst_write_ns;
};

static struct outcome sequential_load(const struct driver *driver, int readers, bool writer)
{
	static struct ios_request read[2], write[32];
	u64 now = MS(1000), end = MS(11000), due[2] = { now, now + MS(1) }, place[3] = { 0, 400000000, 800000000 };
	struct disk disk = { .head = 0 };
	struct outcome outcome = { .seeks = 0 };
	int i;

	driver->start(now);
	for (i = 0; i < 2; i++)
		read[i] = request(0, 8, true);
	for (i = 0; i < 32; i++)
		write[i] = request(0, 8, false);
	while (now < end) {
		u64 completion, wake, arrival = IOS_NEVER;

		for (i = 0; writer && i < 32; i++) {
			if (write[i].where != IOS_OUTSIDE)
				continue;
			write[i] = request(place[2], 8, false);
			place[2] += 8;
			driver->add(&write[i], 2, now);
			fill(driver, &disk, now);
		}
		completion = disk.count ? disk.done_ns[0] : IOS_NEVER;
		wake = driver->queued() && disk.count < DEPTH ? driver->wake_ns() : IOS_NEVER;
		for (i = 0; i < readers; i++)
			if (read[i].where == IOS_OUTSIDE)
				arrival = earlier(arrival, due[i]);
		now = earlier(earlier(completion, wake), arrival);
		for (i = 0; i < readers && now == arrival; i++) {
			if (read[i].where != IOS_OUTSIDE || due[i] != now)
				continue;
			read[i] = request(place[i], 8, true);
			place[i] += 8;
			driver->add(&read[i], i, now);
		}
		if (now == completion) {
			struct ios_request *rq = disk_give(&disk);
			u64 took = now - rq->arrived_ns;

			driver->complete(rq, now);
			if (rq->sync) {
				outcome.reads[rq - read]++;
				due[rq - read] = now + MS(1) / 5;
				outcome.worst_read_ns = took > outcome.worst_read_ns ? took : outcome.worst_read_ns;
			} else {
				outcome.writes++;
				outcome.worst_write_ns = took > outcome.worst_write_ns ? took : outcome.worst_write_ns;
			}
		}
		fill(driver, &disk, now);
	}
	outcome.seeks = disk.seeks;
	return outcome;
}

/* 0.3 ms a read alone, so 33,333 in 10 s; torn between two places, 8.1 ms each: 1234 */
static void two_sequential_readers_are_not_torn(const struct driver *driver, u64 max_seeks)
{
	struct outcome outcome = sequential_load(driver, 2, false);
	u64 sum = outcome.reads[0] + outcome.reads[1];

	CHECK(sum > 25000);
	CHECK(outcome.seeks <= max_seeks);
	/* and fairly served: neither has more than 6/10 */
	CHECK(10 * outcome.reads[0] < 6 * sum && 10 * outcome.reads[1] < 6 * sum);
}

/* It moves when a read is overdue: each 125 ms, 80 times in 10 s, there and back */
static void anticipatory_keeps_a_reader_where_it_is(void)
{
	two_sequential_readers_are_not_torn(&anticipatory, 170);
}

/* A slice is 100 ms and the seek before it: 10 s / 108 ms = 92 */
static void cfq_keeps_a_reader_where_it_is(void)
{
	two_sequential_readers_are_not_torn(&fair, 100);
}

/* A read waits for a batch of writes (125 ms and what is in flight, 4 requests) and an overdue read at the most */
static void anticipatory_keeps_its_deadlines(void)
{
	struct outcome outcome = sequential_load(&anticipatory, 2, true);

	CHECK(outcome.worst_read_ns < MS(125 + 125 + 5 * 9));
	/*
	 * A write waits for a batch of reads (500 ms), and for the batches that those queued before it take: 32
	 * requests are one batch or more, by its size
	 */
	CHECK(outcome.worst_write_ns < MS(3 * (500 + 125)));
	CHECK(outcome.writes > 100);
	/* 500 of each 625 ms are reads' */
	CHECK(outcome.reads[0] + outcome.reads[1] > 20000);
}

static void cfq_keeps_readers_ahead_of_writers(void)
{
	struct outcome outcome = sequential_load(&fair, 2, true);

	u64 sum = outcome.reads[0] + outcome.reads[1];

	CHECK(sum > 25000);
	CHECK(10 * outcome.reads[0] < 6 * sum && 10 * outcome.reads[1] < 6 * sum);
	/* The other's slice, a write's turn, and what is in flight */
	CHECK(outcome.worst_read_ns < MS(100 + 40 + 5 * 9));
	/* A round is two slices and three seeks; in each at least one write goes out, so 32 take at most 32 rounds */
	CHECK(outcome.writes >= 10000 / 225);
	CHECK(outcome.worst_write_ns < MS(32 * 225));
}

const struct test load_tests[] = {
	TEST(anticipatory_loses_nothing_and_never_sticks),
	TEST(cfq_loses_nothing_and_never_sticks),
	TEST(anticipatory_keeps_a_reader_where_it_is),
	TEST(cfq_keeps_a_reader_where_it_is),
	TEST(anticipatory_keeps_its_deadlines),
	TEST(cfq_keeps_readers_ahead_of_writers),
	END_OF_TESTS
};
