// SPDX-License-Identifier: Apache-2.0
/*
 * turns: makes QEMU's two threads take turns, so that a guest's waiting takes the same virtual time in every run.
 * Preloaded into QEMU by the lab (LD_PRELOAD).
 *
 * With -icount and sleep=off, QEMU's main loop moves the clock to the next timer once all virtual CPUs wait. A CPU that executes
 * WFI is marked as waiting before the instructions of its last stretch are counted, and without the lock. If the main loop comes by
 * in between, it measures the way to the timer from a clock that is too old: the guest's clock then leaps too far, by as much as
 * that stretch took. Most waits of a guest begin with such a needless visit of the main loop, so stretches of a few microseconds,
 * as those of a driver of raw flash, meet it often.
 *
 * Here the main loop gets the lock, when it comes back from its files, only while the CPU's thread sleeps: that thread has
 * counted all its instructions by then. Nothing else that the main loop does matters to a guest whose devices are memory.
 *
 * For speed, the CPU's thread calls the main loop (by an eventfd, three times a wait) only when it goes to sleep, and without the
 * lock: called before, the main loop would come and wait for the lock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
	PLACES = 16,	/* QEMU has two or three locks that a thread waits with for ever */
	LOOK_NS = 100000000,	/* how soon QEMU hears a signal that ends it while the guest computes */
	CALLS = 64,		/* of files beyond that each call is made at once */
};

/* A lock, and how many threads but the first gave it up until they are woken. Of the CPU's thread this is QEMU's big lock. */
struct place {
	_Atomic(pthread_mutex_t *) lock;
	atomic_int asleep;
};

static struct {
	int (*lock)(pthread_mutex_t *);
	int (*unlock)(pthread_mutex_t *);
	int (*wait)(pthread_cond_t *, pthread_mutex_t *);
	int (*wait_until)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	int (*broadcast)(pthread_cond_t *);
	int (*signal)(pthread_cond_t *);
	int (*poll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*eventfd)(unsigned int, int);
	ssize_t (*write)(int, const void *, size_t);
} libc;

static struct place places[PLACES];
static pthread_t first;
static bool came_back;	/* the first thread, from its files */
static atomic_bool held_up;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

static _Atomic uint64_t eventfds;	/* bits by the number of the file */
static _Thread_local uint64_t to_call;
static _Thread_local bool sleeps;	/* this is the CPU's thread */
static atomic_uint wakings;

static void *function(const char *name, const char *version)
{
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);

	/* glibc's condition variables of before 2.3.2 have another layout; a computer younger than them has no such version */
	return found ? found : dlsym(RTLD_NEXT, name);
}

/* Libraries use locks before any constructor of ours. */
static void prepare(void)
{
	if (libc.lock)
		return;
	first = pthread_self();
	libc.unlock = function("pthread_mutex_unlock", NULL);
	libc.wait = function("pthread_cond_wait", "GLIBC_2.3.2");
	libc.wait_until = function("pthread_cond_timedwait", "GLIBC_2.3.2");
	libc.broadcast = function("pthread_cond_broadcast", "GLIBC_2.3.2");
	libc.signal = function("pthread_cond_signal", "GLIBC_2.3.2");
	libc.poll = function("ppoll", NULL);
	libc.eventfd = function("eventfd", NULL);
	libc.write = function("write", NULL);
	libc.lock = function("pthread_mutex_lock", NULL);
}

static bool on_first_thread(void)
{
	return pthread_equal(pthread_self(), first);
}

static struct place *find(pthread_mutex_t *lock, bool add)
{
	for (struct place *p = places; p < places + PLACES; p++) {
		pthread_mutex_t *none = NULL;

		if (p->lock == lock || (add && (atomic_compare_exchange_strong(&p->lock, &none, lock) || none == lock)))
			return p;
	}
	if (add)
		abort();
	return NULL;
}

static bool told_to_end(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT) || sigismember(&pending, SIGHUP);
}

static void wait_for_sleep(struct place *place)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	libc.lock(&door);
	held_up = true;
	if (!place->asleep)
		libc.wait_until(&opened, &door, &until);
	held_up = false;
	libc.unlock(&door);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	int ready;

	prepare();
	ready = libc.poll(files, count, timeout, mask);
	if (on_first_thread())
		came_back = true;
	return ready;
}

int eventfd(unsigned int count, int flags)
{
	int file;

	prepare();
	file = libc.eventfd(count, flags);
	if (file >= 0 && file < CALLS)
		eventfds |= UINT64_C(1) << file;
	return file;
}

ssize_t write(int file, const void *bytes, size_t count)
{
	prepare();
	if (!sleeps || file < 0 || file >= CALLS || !(eventfds >> file & 1))
		return libc.write(file, bytes, count);
	to_call |= UINT64_C(1) << file;
	return count;
}

static void call(void)
{
	for (; to_call; to_call &= to_call - 1)
		libc.write(__builtin_ctzll(to_call), &(uint64_t) { 1 }, sizeof(uint64_t));
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
	prepare();
	wakings++;
	return libc.broadcast(condition);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
	prepare();
	wakings++;
	return libc.signal(condition);
}

/* Whoever waits may be woken for nothing. True: somebody was woken, perhaps this thread */
static bool called_and_woken(pthread_mutex_t *lock)
{
	unsigned int before = wakings;

	if (!to_call)
		return false;
	libc.unlock(lock);
	call();
	libc.lock(lock);
	return wakings != before;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	struct place *place;
	int error = 0;

	prepare();
	if (on_first_thread())
		return libc.wait(condition, lock);
	place = find(lock, true);
	place->asleep++;
	sleeps = true;
	if (held_up) {
		libc.lock(&door);
		libc.signal(&opened);
		libc.unlock(&door);
	}
	if (!called_and_woken(lock))
		error = libc.wait(condition, lock);
	place->asleep--;
	return error;
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	struct place *place;
	int error;

	prepare();
	error = libc.lock(lock);
	if (!came_back || !on_first_thread())
		return error;
	place = find(lock, false);
	if (!place)
		return error;
	came_back = false;
	while (!place->asleep && !told_to_end()) {
		libc.unlock(lock);
		wait_for_sleep(place);
		error = libc.lock(lock);
	}
	return error;
}
