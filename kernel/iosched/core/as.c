// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches, deadlines and the sweep of the anticipatory scheduler. as_wait.c decides whether to wait
 * for a process.
 */
#include "as.h"
#include "sweep.h"

const struct ios_sweep as_sweep = { .back_max = 1024 * 1024, .back_penalty = 2 };

/*
 * If a write batch takes this many times too long or short, its size changes by a factor and not by
 * one
 */
#define FAR_OFF			3

/* The initial size of a write batch: a request for each 10 ms of its time (assumed) */
#define FIRST_WRITE_NS		(10 * IOS_NSEC_PER_MSEC)

/*
 * The limit of doubling, on a medium that takes any batch in no time: far above what can be queued
 */
#define WRITES_MAX		65536

static enum as_class class_of(const struct ios_request *rq)
{
	return rq->sync ? AS_READ : AS_WRITE;
}

static struct as_process *process_of(const struct ios_request *rq)
{
	return rq->owner;
}

void as_default_tunables(struct as_tunables *tunables)
{
	*tunables = (struct as_tunables) {
		.expire_ns = { 125 * IOS_NSEC_PER_MSEC, 250 * IOS_NSEC_PER_MSEC },
		.batch_expire_ns = { 500 * IOS_NSEC_PER_MSEC, 125 * IOS_NSEC_PER_MSEC },
		.antic_expire_ns = 6 * IOS_NSEC_PER_MSEC,
	};
}

void as_init(struct as_scheduler *as, const struct as_tunables *tunables)
{
	int class;

	memset(as, 0, sizeof(*as));
	as->tunables = *tunables;
	for (class = 0; class < AS_CLASSES; class++) {
		as->queues[class].sorted = RB_ROOT_CACHED;
		INIT_LIST_HEAD(&as->queues[class].fifo);
	}
	as->class = AS_READ;
	as->batch_end_ns = IOS_NEVER;
	as->writes_allowed =
		max_t(u32, div64_u64(tunables->batch_expire_ns[AS_WRITE], FIRST_WRITE_NS), 1);
}

static void enqueue(struct as_scheduler *as, struct ios_request *rq)
{
	struct as_queue *queue = &as->queues[class_of(rq)];

	rq->where = IOS_QUEUED;
	ios_sorted_add(&queue->sorted, rq);
	list_add_tail(&rq->fifo, &queue->fifo);
	queue->queued++;
	process_of(rq)->queued[class_of(rq)]++;
}

static void dequeue(struct as_scheduler *as, struct ios_request *rq)
{
	struct as_queue *queue = &as->queues[class_of(rq)];

	rq->where = IOS_OUTSIDE;
	ios_sorted_remove(&queue->sorted, rq);
	list_del_init(&rq->fifo);
	queue->queued--;
	process_of(rq)->queued[class_of(rq)]--;
}

void as_add(struct as_scheduler *as, struct ios_request *rq, struct as_process *process, u64 now)
{
	enum as_class class = class_of(rq);

	/*
	 * A batch of reads continues as long as no write waits; its clock starts with the first
	 * waiting write
	 */
	if (class == AS_WRITE && as->class == AS_READ && !as->queues[AS_WRITE].queued)
		as->batch_end_ns = now + as->tunables.batch_expire_ns[AS_READ];
	if (as->exit_pending && rq->sync)
		as_learn_after_exit(as, rq, now);
	as_learn(as, process, rq, now);
	rq->owner = process;
	rq->arrived_ns = now;
	rq->deadline_ns = now + as->tunables.expire_ns[class];
	enqueue(as, rq);
	if (as->waiting)
		as_wait_arrival(as, rq, now);
}

static struct ios_request *send(struct as_scheduler *as, struct ios_request *rq)
{
	enum as_class class = class_of(rq);

	dequeue(as, rq);
	rq->where = IOS_IN_FLIGHT;
	as->queues[class].in_flight++;
	process_of(rq)->in_flight[class]++;
	as->head = ios_end(rq);
	if (class == AS_WRITE && as->writes_left)
		as->writes_left--;
	return rq;
}

/*
 * The oldest request, if it is past its deadline. Checked once per expiry time, so that a queue
 * full of such requests is still served in a sweep.
 */
static struct ios_request *overdue(struct as_scheduler *as, enum as_class class, u64 now)
{
	struct as_queue *queue = &as->queues[class];

	if (as_overdue_ns(queue, as->tunables.expire_ns[class]) > now)
		return NULL;
	queue->fifo_checked_ns = now;
	return ios_fifo_head(&queue->fifo);
}

static bool batch_is_over(const struct as_scheduler *as, u64 now)
{
	if (as->class == AS_READ)
		return now >= as->batch_end_ns && as->queues[AS_WRITE].queued;
	return now >= as->batch_end_ns || !as->writes_left;
}

/* The next request of this batch; NULL: none, or wait */
static struct ios_request *next_in_batch(struct as_scheduler *as, u64 now)
{
	struct as_queue *queue = &as->queues[as->class];
	struct ios_request *next = overdue(as, as->class, now);

	if (next)
		return next;
	next = ios_sweep_next(&as_sweep, &queue->sorted, as->head);
	if (as->class == AS_WRITE || as_reason_against(as, next, now) != AS_WAIT)
		return next;
	as->waiting = true;
	return NULL;
}

/* Adapts the size of write batches after one, to its duration */
static void adapt_write_batch(struct as_scheduler *as)
{
	u64 wanted = as->tunables.batch_expire_ns[AS_WRITE], taken = 0;

	/*
	 * With several CPUs, a completion may be timed before the batch begins and reported after
	 * it
	 */
	if (as->writes_done_ns > as->batch_start_ns)
		taken = as->writes_done_ns - as->batch_start_ns;
	if (taken > wanted && !as->writes_idled) {
		if (taken > FAR_OFF * wanted)
			as->writes_allowed /= 2;
		else
			as->writes_allowed--;
	} else if (taken < wanted && !as->writes_left) {
		if (wanted > FAR_OFF * taken)
			as->writes_allowed *= 2;
		else
			as->writes_allowed++;
	}
	as->writes_allowed = clamp_t(u32, as->writes_allowed, 1, WRITES_MAX);
}

/* Begins a batch at its oldest request */
static struct ios_request *begin_batch(struct as_scheduler *as, enum as_class class, u64 now)
{
	struct as_queue *queue = &as->queues[class];

	if (class == AS_READ && as->writes_done_ns)
		adapt_write_batch(as);
	as->changing = false;
	as->class = class;
	as->batch_start_ns = now;
	as->batch_end_ns = now + as->tunables.batch_expire_ns[class];
	as->last = NULL;
	if (class == AS_READ && !as->queues[AS_WRITE].queued)
		as->batch_end_ns = IOS_NEVER;
	if (class == AS_WRITE) {
		as->writes_left = as->writes_allowed;
		as->writes_idled = false;
	}
	queue->fifo_checked_ns = now;
	return ios_fifo_head(&queue->fifo);
}

static bool change_batch(struct as_scheduler *as, enum as_class *class)
{
	bool reads = as->queues[AS_READ].queued, writes = as->queues[AS_WRITE].queued;

	if (!reads && !writes)
		return false;
	if (reads && writes)
		*class = as->class == AS_READ ? AS_WRITE : AS_READ;
	else
		*class = reads ? AS_READ : AS_WRITE;
	return true;
}

struct ios_request *as_dispatch(struct as_scheduler *as, u64 now)
{
	struct ios_request *rq;
	enum as_class class;

	if (!as_queued(as))
		return NULL;
	if (as->changing) {
		/* All requests of the old batch complete first */
		if (as->queues[!as->class].in_flight)
			return NULL;
		as->changing = false;
		if (as->queues[as->class].queued) /* unless they were merged away meanwhile */
			return send(as, begin_batch(as, as->class, now));
	}
	if (as->waiting) {
		if (now < as_wait_until(as))
			return NULL;
		as_wait_end(as, now >= as->last_done_ns + as->tunables.antic_expire_ns ?
					AS_EXPIRED :
					AS_OVERDUE);
	}
	if (as->class == AS_READ && as->tunables.antic_expire_ns && as->queues[AS_READ].in_flight)
		return NULL;
	if (!batch_is_over(as, now)) {
		rq = next_in_batch(as, now);
		if (rq)
			return send(as, rq);
		if (as->waiting)
			return NULL;
	}
	if (!change_batch(as, &class))
		return NULL;
	if (class != as->class && as->queues[as->class].in_flight) {
		as->class = class;
		as->changing = true;
		return NULL;
	}
	return send(as, begin_batch(as, class, now));
}

u64 as_wake_ns(const struct as_scheduler *as)
{
	return as->waiting && as_queued(as) ? as_wait_until(as) : IOS_NEVER;
}

static void drop_in_flight(struct as_scheduler *as, struct ios_request *rq)
{
	enum as_class class = class_of(rq);

	rq->where = IOS_OUTSIDE;
	as->queues[class].in_flight--;
	process_of(rq)->in_flight[class]--;
}

void as_complete(struct as_scheduler *as, struct ios_request *rq, u64 now)
{
	struct as_process *process = process_of(rq);
	struct as_queue *writes = &as->queues[AS_WRITE];

	drop_in_flight(as, rq);
	if (rq->sync) {
		process->done_ns = now;
		if (as->class == AS_READ && !as->waiting) {
			if (as->exit_pending)	/* the head has moved */
				as_learn_exit(as, false);
			as->last = process;
			as->last_end = ios_end(rq);
			as->last_done_ns = now;
			if (process->exited)
				as_process_exits(as, process);
		}
		return;
	}
	as->writes_done_ns = now;
	if (as->class == AS_WRITE && !writes->in_flight && !writes->queued)
		as->writes_idled = true;
}

void as_forget(struct as_scheduler *as, struct ios_request *rq)
{
	if (rq->where == IOS_QUEUED)
		dequeue(as, rq);
	else if (rq->where == IOS_IN_FLIGHT)
		drop_in_flight(as, rq);
}

void as_resize(struct as_scheduler *as, struct ios_request *rq, u64 sector, u32 sectors)
{
	struct rb_root_cached *sorted = &as->queues[class_of(rq)].sorted;

	rq->sectors = sectors;
	if (rq->sector == sector)
		return;
	ios_sorted_remove(sorted, rq);
	rq->sector = sector;
	ios_sorted_add(sorted, rq);
}

void as_absorb(struct as_scheduler *as, struct ios_request *rq, struct ios_request *other)
{
	if (other->where == IOS_QUEUED && class_of(rq) == class_of(other) &&
	    other->deadline_ns < rq->deadline_ns) {
		rq->deadline_ns = other->deadline_ns;
		list_del_init(&rq->fifo);
		list_add_tail(&rq->fifo, &other->fifo);
	}
	as_forget(as, other);
}

/* The process's memory may be freed now: a wait for it becomes a wait for its place and habits */
void as_process_exits(struct as_scheduler *as, struct as_process *process)
{
	process->exited = true;
	if (as->last != process)
		return;
	as->exited_process = *process;
	memset(as->exited_process.queued, 0, sizeof(as->exited_process.queued));
	memset(as->exited_process.in_flight, 0, sizeof(as->exited_process.in_flight));
	as->last = &as->exited_process;
	as->exit_pending = true;
	if (as->waiting && as_reason_against(as, NULL, as->last_done_ns) == AS_EXITED)
		as_wait_end(as, AS_EXITED);
}
