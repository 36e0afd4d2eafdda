// SPDX-License-Identifier: Apache-2.0
/*
 * fxmark: processes that all do the same to a file system at the same time, each on its own CPU. It implements the
 * tests of FxMark (Min, Kashyap, Maass, Kang, Kim, "Understanding Manycore Scalability of File Systems", USENIX ATC
 * 2016) from their description.
 *
 *	fxmark prepare DIRECTORY BYTES
 *	fxmark TEST DIRECTORY BYTES PROCESSES WRITERS BLOCK DIRECT WARM_US RUN_US POOL SEED DEPTH CPUS
 *
 * `prepare` writes the shared file. TEST is one of `tests` below, with FxMark's letters beside each. WRITERS of the
 * processes write where the others read; only random and the reads of a shared file support them. Before the test, the
 * writers write a block of each megabyte, so that the file system has the file's block map in memory for writes, as of
 * any file in use. Otherwise it would read the map while it holds the file's lock, behind all the readers' requests.
 *
 * CPUS is "each": process i runs on CPU i, modulo the CPUs; "any": the kernel chooses; or a comma-separated list with
 * one CPU for each process.
 *
 * DEPTH is the number of requests in flight of each process of random; more than one use io_submit(), one by one, and
 * direct I/O only.
 *
 * The processes are set up one after the other: all at once they would contend for the tested locks, which no test
 * counts. A test's operations begin together. Counting begins WARM_US later; with a DEPTH above 1, WARM_US after each
 * process has its requests in flight, because until then it waits for none. Operations that end within RUN_US count. A
 * process without work left (unlink: POOL files each) ends the test for all. Prints TEST, PROCESSES and WRITERS, and,
 * in ns since boot, the begin of operations, the begin of counting and its end. A line follows for reads and one for
 * other operations: "read" or "other", their number, the sum of their times and the longest, ns, and pairs of a time
 * and the number of operations that took at most that long (and longer than the pair before): bins of 1/64. The
 * emulator gets the begin and end of counting, for its profile (HINT #113). The guest's script MARK records the
 * medium's counters before the first and after the last operation, as load.TEST and load.TEST.ended: the setup is not
 * part of the load.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

#define MARK "/lib/flashbed/mark"

enum {
	STEPS = 64,
	STEP_BITS = 6,
	TIMES = 40 * STEPS,
	MAX_PROCESSES = 256,
	MAX_DEPTH = 1024,
	PATH = 128,
	CHUNK = 1 << 20,
	START_NS = 2000000,
};

#define NOT_YET_NS (UINT64_MAX / 2)

enum kind { READ, OTHER, KINDS };

struct counts {
	uint64_t many[KINDS], sum_ns[KINDS], longest_ns[KINDS];
	uint32_t times[KINDS][TIMES];
};

static struct {
	const char *test, *directory, *cpus;
	uint64_t bytes, processes, writers, block, direct, warm_ns, run_ns, pool, seed, depth;
} job;

static struct shared {
	uint64_t begin_ns, submitted; /* submitted: processes with all requests in flight */
	volatile uint64_t from_ns, end_ns;
	struct counts of[MAX_PROCESSES];
} *shared;

static struct {
	uint64_t number, done, random;
	int fd;
	char *block;
	char own[PATH], all[PATH];
} me;

static void die(const char *what)
{
	fprintf(stderr, "fxmark: %s: %s\n", what, strerror(errno));
	if (shared)
		shared->end_ns = 0; /* for the others, too */
	exit(1);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = timespec_of(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void tell_emulator(uint64_t on)
{
#ifdef __aarch64__
	register uint64_t x0 __asm__("x0") = on;

	__asm__ volatile("hint #113" : : "r"(x0) : "memory");
#else
	(void)on;
#endif
}

static void name(char *to, const char *of, uint64_t number)
{
	snprintf(to, PATH, "%s/%s.%" PRIu64, job.directory, of, number);
}

static int opened(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0)
		die(path);
	return fd;
}

static void whole(ssize_t done)
{
	if (!is_whole(done, job.block, EIO))
		die("a block was not read or written");
}

static void fill(const char *path, uint64_t bytes)
{
	int fd = opened(path, O_WRONLY | O_CREAT | O_TRUNC);
	static char chunk[CHUNK];

	for (uint64_t at = 0; at < bytes; at += CHUNK) {
		size_t part = bytes - at < CHUNK ? bytes - at : CHUNK;

		memset(chunk, (int)(at / CHUNK + 1), part);
		if (write(fd, chunk, part) != (ssize_t)part)
			die(path);
	}
	if (fsync(fd) || close(fd))
		die(path);
}

static void new_file(const char *path)
{
	if (close(opened(path, O_WRONLY | O_CREAT | O_EXCL)))
		die(path);
}

/* Setup: the object that each process works on */

static void own_block(void)
{
	name(me.own, "own", me.number);
	fill(me.own, job.block);
	me.fd = opened(me.own, O_RDWR | (job.direct ? O_DIRECT : 0));
}

static void own_empty(void)
{
	name(me.own, "own", me.number);
	me.fd = opened(me.own, O_RDWR | O_CREAT | O_TRUNC | (job.direct ? O_DIRECT : 0));
}

static void shared_file(void)
{
	char path[PATH];

	snprintf(path, PATH, "%s/all", job.directory);
	me.fd = opened(path, O_RDWR | (job.direct ? O_DIRECT : 0));
	if (me.number >= job.writers)
		return;
	for (uint64_t at = me.number * CHUNK; at + job.block <= job.bytes; at += job.writers * CHUNK)
		whole(pwrite(me.fd, me.block, job.block, (off_t)at));
}

static void own_directory(void)
{
	name(me.own, job.test, me.number);
	if (mkdir(me.own, 0700))
		die(me.own);
}

static void shared_directory(void)
{
	snprintf(me.own, PATH, "%s/%s", job.directory, job.test);
	if (mkdir(me.own, 0700) && errno != EEXIST)
		die(me.own);
}

static void entry(char *to, const char *directory, uint64_t number)
{
	snprintf(to, 2 * PATH, "%s/%" PRIu64 ".%" PRIu64, directory, me.number, number);
}

static void own_directory_file(void)
{
	char path[2 * PATH];

	own_directory();
	entry(path, me.own, 0);
	new_file(path);
}

static void both_directories_file(void)
{
	shared_directory();
	memcpy(me.all, me.own, PATH);
	own_directory_file();
}

static void pool(void)
{
	char path[2 * PATH];

	for (uint64_t i = 0; i < job.pool; i++) {
		entry(path, me.own, i);
		new_file(path);
	}
}

static void own_pool(void)
{
	own_directory();
	pool();
}

static void shared_pool(void)
{
	shared_directory();
	pool();
}

/* An operation; -1: no work is left */

static int at_block(uint64_t block)
{
	if (me.number < job.writers) {
		whole(pwrite(me.fd, me.block, job.block, (off_t)(block * job.block)));
		return OTHER;
	}
	whole(pread(me.fd, me.block, job.block, (off_t)(block * job.block)));
	return READ;
}

static int read_first(void)
{
	whole(pread(me.fd, me.block, job.block, 0));
	return READ;
}

static int read_mine(void)
{
	return at_block(me.number);
}

static int read_same(void)
{
	return at_block(0);
}

static uint64_t any_block(void)
{
	return random_below(&me.random, job.bytes / job.block);
}

static int any(void)
{
	return at_block(any_block());
}

static int write_first(void)
{
	whole(pwrite(me.fd, me.block, job.block, 0));
	return OTHER;
}

static int write_mine(void)
{
	whole(pwrite(me.fd, me.block, job.block, (off_t)(me.number * job.block)));
	return OTHER;
}

static int append(void)
{
	whole(pwrite(me.fd, me.block, job.block, (off_t)(me.done * job.block)));
	return OTHER;
}

static int create(void)
{
	char path[2 * PATH];

	entry(path, me.own, me.done);
	new_file(path);
	return OTHER;
}

static int rename_own(void)
{
	char from[2 * PATH], to[2 * PATH];

	entry(from, me.own, me.done % 2);
	entry(to, me.own, (me.done + 1) % 2);
	if (rename(from, to))
		die(from);
	return OTHER;
}

static int rename_between(void)
{
	char own[2 * PATH], all[2 * PATH];
	bool back = me.done % 2;

	entry(own, me.own, 0);
	entry(all, me.all, 0);
	if (rename(back ? all : own, back ? own : all))
		die(own);
	return OTHER;
}

static int remove_one(void)
{
	char path[2 * PATH];

	if (me.done == job.pool)
		return -1;
	entry(path, me.own, me.done);
	if (unlink(path))
		die(path);
	return OTHER;
}

static const struct test {
	const char *name;
	void (*set_up)(void);
	int (*once)(void);
} tests[] = {
	{ "read-private", own_block, read_first },		/* DRBL */
	{ "read-shared-file", shared_file, read_mine },		/* DRBM */
	{ "read-shared-block", shared_file, read_same },	/* DRBH */
	{ "overwrite-private", own_block, write_first },	/* DWOL */
	{ "overwrite-shared-file", shared_file, write_mine },	/* DWOM */
	{ "append-private", own_empty, append },		/* DWAL */
	{ "create-private", own_directory, create },		/* MWCL */
	{ "create-shared", shared_directory, create },		/* MWCM */
	{ "rename-private", own_directory_file, rename_own },	/* MWRL */
	{ "rename-shared", both_directories_file, rename_between },	/* MWRM, and back again */
	{ "unlink-private", own_pool, remove_one },		/* MWUL */
	{ "unlink-shared", shared_pool, remove_one },		/* MWUM */
	{ "random", shared_file, any },				/* not FxMark's: any block of the shared file */
};

/* The bins of fio and HdrHistogram: whole numbers below 64, then 64 for each power of two */
static unsigned int step_of(uint64_t ns)
{
	unsigned int power;

	if (ns < STEPS)
		return (unsigned int)ns;
	power = 63 - (unsigned int)__builtin_clzll(ns);
	power = (power - STEP_BITS) * STEPS + STEPS + (unsigned int)(ns >> (power - STEP_BITS) & (STEPS - 1));
	return power < TIMES ? power : TIMES - 1;
}

static uint64_t longest_in(unsigned int step)
{
	unsigned int power = step / STEPS;

	if (!power)
		return step;
	return (((uint64_t)STEPS + step % STEPS + 1) << (power - 1)) - 1;
}

/* False once the test is over. Operations that ended before counting began, or after it ended, do not count. */
static bool note(int kind, uint64_t before, uint64_t after)
{
	struct counts *mine = &shared->of[me.number];

	if (after > shared->end_ns)
		return false;
	if (kind < 0) {
		shared->end_ns = after;
		return false;
	}
	me.done++;
	if (after <= shared->from_ns)
		return true;
	mine->many[kind]++;
	mine->sum_ns[kind] += after - before;
	mine->times[kind][step_of(after - before)]++;
	if (after - before > mine->longest_ns[kind])
		mine->longest_ns[kind] = after - before;
	return true;
}

static void one_at_a_time(const struct test *test)
{
	uint64_t before, after;

	for (before = now_ns();; before = after) {
		int kind = test->once();

		after = now_ns();
		if (!note(kind, before, after))
			return;
	}
}

static void submit(aio_context_t context, struct iocb *request, uint64_t *before)
{
	request->aio_offset = (int64_t)(any_block() * job.block);
	*before = now_ns();
	if (syscall(SYS_io_submit, context, 1, &request) != 1)
		die("io_submit");
}

static void all_submitted(int full)
{
	char word = 0;

	if (__atomic_add_fetch(&shared->submitted, 1, __ATOMIC_SEQ_CST) == job.processes && write(full, &word, 1) != 1)
		die("pipe");
}

/* Requests in flight at the end are not awaited: they do not count */
static void several_at_a_time(int full)
{
	int kind = me.number < job.writers ? OTHER : READ;
	static struct iocb requests[MAX_DEPTH];
	static struct io_event done[MAX_DEPTH];
	static uint64_t before[MAX_DEPTH];
	aio_context_t context = 0;
	char *blocks;

	if (posix_memalign((void **)&blocks, 4096, job.depth * job.block))
		die("no memory");
	memset(blocks, 1, job.depth * job.block);
	if (syscall(SYS_io_setup, job.depth, &context))
		die("io_setup");
	for (uint64_t i = 0; i < job.depth; i++) {
		requests[i] = (struct iocb){ .aio_data = i, .aio_fildes = (uint32_t)me.fd, .aio_nbytes = job.block };
		requests[i].aio_lio_opcode = kind == READ ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
		requests[i].aio_buf = (uint64_t)(uintptr_t)(blocks + i * job.block);
		submit(context, &requests[i], &before[i]);
	}
	all_submitted(full);
	for (;;) {
		long many = syscall(SYS_io_getevents, context, 1, job.depth, done, NULL);

		if (many < 1)
			die("io_getevents");
		for (long i = 0; i < many; i++) {
			uint64_t which = done[i].data;

			whole((ssize_t)done[i].res);
			if (!note(kind, before[which], now_ns()))
				return;
			submit(context, &requests[which], &before[which]);
		}
	}
}

static void work(const struct test *test, int full)
{
	sleep_until(shared->begin_ns);
	if (job.depth > 1)
		several_at_a_time(full);
	else
		one_at_a_time(test);
}

static void bind_to_cpu(uint64_t process)
{
	uint64_t cpu = process % (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	const char *at = job.cpus;
	cpu_set_t one;

	if (!strcmp(at, "any"))
		return;
	if (strcmp(at, "each")) {
		for (; process && at; process--)
			at = (at = strchr(at, ',')) ? at + 1 : NULL;
		errno = EINVAL;
		if (!at)
			die("a process without a CPU");
		cpu = strtoull(at, NULL, 10);
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static void process(const struct test *test, uint64_t number, int ready, int go, int full, int out)
{
	char word = 0;

	bind_to_cpu(number);
	me.number = number;
	me.random = random_state(job.seed, MAX_PROCESSES, number);
	if (posix_memalign((void **)&me.block, 4096, job.block))
		die("no memory");
	memset(me.block, (int)number + 1, job.block);
	test->set_up();
	memset(&shared->of[number], 0, sizeof(struct counts));
	if (write(ready, &word, 1) != 1 || read(go, &word, 1) != 1)
		die("pipe");
	work(test, full);
	if (shared->end_ns < shared->from_ns + job.run_ns && write(out, &word, 1) != 1)
		die("pipe");
	exit(0);
}

/* Does nothing without such a script, as on a host */
static void mark(const struct test *test, const char *moment)
{
	char command[PATH];

	snprintf(command, PATH, MARK " load.%s%s", test->name, moment);
	if (!access(MARK, X_OK) && system(command))
		die(command);
}

static void count_from(uint64_t ns)
{
	shared->end_ns = ns + job.run_ns;
	shared->from_ns = ns;
}

static void measure(const struct test *test)
{
	int ready[2], go[2], full[2], out[2], status, directory = opened(job.directory, O_RDONLY | O_DIRECTORY);
	struct sched_param first = { .sched_priority = 1 };
	struct pollfd early;
	struct timespec rest = timespec_of(job.run_ns);
	char word = 0;

	if (pipe(go) || pipe(full) || pipe(out))
		die("pipe");
	for (uint64_t i = 0; i < job.processes; i++) {
		pid_t child;

		if (pipe(ready))
			die("pipe");
		child = fork();
		if (child < 0)
			die("fork");
		if (!child)
			process(test, i, ready[1], go[0], full[1], out[1]);
		close(ready[1]);
		if (read(ready[0], &word, 1) != 1)
			exit(1); /* the missing process has printed the reason */
		close(ready[0]);
	}
	/*
	 * Otherwise it would wait behind a process that never sleeps, and inform the emulator too late; root may do
	 * this
	 */
	sched_setscheduler(0, SCHED_FIFO, &first);
	if (syncfs(directory))
		die("syncfs");
	mark(test, "");
	shared->begin_ns = now_ns() + START_NS;
	shared->from_ns = shared->end_ns = NOT_YET_NS;
	if (job.depth == 1)
		count_from(shared->begin_ns + job.warm_ns);
	for (uint64_t i = 0; i < job.processes; i++)
		if (write(go[1], &word, 1) != 1)
			die("pipe");
	close(full[1]);
	if (job.depth > 1) {
		if (read(full[0], &word, 1) != 1)
			exit(1); /* the missing process has printed the reason */
		count_from(now_ns() + job.warm_ns);
	}
	sleep_until(shared->from_ns);
	tell_emulator(1);
	early = (struct pollfd){ .fd = out[0], .events = POLLIN };
	ppoll(&early, 1, &rest, NULL);
	tell_emulator(0);
	for (uint64_t i = 0; i < job.processes; i++)
		if (wait(&status) < 0 || status)
			exit(1);
	mark(test, ".ended");
}

static void print(enum kind kind)
{
	static const char *const names[KINDS] = { "read", "other" };
	uint64_t many = 0, sum = 0, longest = 0, here;

	for (uint64_t i = 0; i < job.processes; i++) {
		many += shared->of[i].many[kind];
		sum += shared->of[i].sum_ns[kind];
		if (shared->of[i].longest_ns[kind] > longest)
			longest = shared->of[i].longest_ns[kind];
	}
	printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64, names[kind], many, sum, longest);
	for (unsigned int step = 0; many && step < TIMES; step++) {
		here = 0;
		for (uint64_t i = 0; i < job.processes; i++)
			here += shared->of[i].times[kind][step];
		if (here)
			printf(" %" PRIu64 " %" PRIu64, longest_in(step), here);
	}
	printf("\n");
}

static int usage(void)
{
	fprintf(stderr, "usage: fxmark prepare DIRECTORY BYTES\n"
			"       fxmark TEST DIRECTORY BYTES PROCESSES WRITERS BLOCK DIRECT WARM_US RUN_US POOL SEED "
			"DEPTH CPUS\n");
	return 2;
}

int main(int argc, char **argv)
{
	char path[PATH];

	if (argc >= 4) {
		job.test = argv[1];
		job.directory = argv[2];
		job.bytes = number(argv[3]);
	}
	if (argc == 4 && !strcmp(argv[1], "prepare")) {
		snprintf(path, PATH, "%s/all", job.directory);
		fill(path, job.bytes);
		return 0;
	}
	if (argc == 14) {
		job.processes = number(argv[4]);
		job.writers = number(argv[5]);
		job.block = number(argv[6]);
		job.direct = number(argv[7]);
		job.warm_ns = number(argv[8]) * 1000;
		job.run_ns = number(argv[9]) * 1000;
		job.pool = number(argv[10]);
		job.seed = number(argv[11]);
		job.depth = number(argv[12]);
		job.cpus = argv[13];
	}
	if (!job.block || job.processes > MAX_PROCESSES || job.depth > MAX_DEPTH)
		return usage();
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (strcmp(argv[1], tests[i].name))
			continue;
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED)
			die("no memory");
		measure(&tests[i]);
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64, argv[1], job.processes, job.writers, shared->begin_ns);
		printf(" %" PRIu64 " %" PRIu64 "\n", shared->from_ns, shared->end_ns);
		print(READ);
		print(OTHER);
		return 0;
	}
	return usage();
}
