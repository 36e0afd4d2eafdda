// SPDX-License-Identifier: GPL-2.0-only
/*
 * CFQ's queues: requests arrive, and the active queue returns its next one. Slice lengths are in
 * cfq_slice.c, waits for a process in cfq_idle.c, and the order of turns in cfq_turn.c.
 */
#include "cfq.h"

/*
 * Before the first late synchronous request, the asynchronous depth starts ten slices up its ramp
 */
#define RAMP_HEADSTART_NS	(1000 * IOS_NSEC_PER_MSEC)

void cfq_default_tunables(struct cfq_tunables *tunables)
{
	*tunables = (struct cfq_tunables) {
		.quantum = 8,
		.fifo_expire_sync_ns = 125 * IOS_NSEC_PER_MSEC,
		.fifo_expire_async_ns = 250 * IOS_NSEC_PER_MSEC,
		.sweep = { .back_max = 16384 * 2, .back_penalty = 2 },
		.slice_sync_ns = 100 * IOS_NSEC_PER_MSEC,
		.slice_async_ns = 40 * IOS_NSEC_PER_MSEC,
		.slice_async_rq = 2,
		.slice_idle_ns = 8 * IOS_NSEC_PER_MSEC,
		.group_idle_ns = 8 * IOS_NSEC_PER_MSEC,
		.low_latency = true,
		.target_latency_ns = 300 * IOS_NSEC_PER_MSEC,
	};
}

void cfq_queue_init(struct cfq_queue *queue, bool sync)
{
	memset(queue, 0, sizeof(*queue));
	queue->sync = sync;
	queue->priority = (struct cfq_priority) { CFQ_BE, CFQ_NORMAL };
	queue->sorted = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&queue->fifo);
	INIT_LIST_HEAD(&queue->turn);
}

void cfq_init(struct cfq_scheduler *cfq, const struct cfq_tunables *tunables, u64 now)
{
	u32 class, level;

	memset(cfq, 0, sizeof(*cfq));
	cfq->tunables = *tunables;
	cfq->delayed_sync_ns = now - RAMP_HEADSTART_NS;
	for (class = 0; class < CFQ_CLASSES; class++) {
		INIT_LIST_HEAD(&cfq->turns[class]);
		for (level = 0; level < CFQ_LEVELS; level++) {
			cfq_queue_init(&cfq->async[class][level], false);
			cfq->async[class][level].priority = (struct cfq_priority) { class, level };
		}
	}
}

static struct cfq_queue *queue_of(const struct ios_request *rq)
{
	return rq->owner;
}

struct cfq_queue *cfq_queue_for(struct cfq_scheduler *cfq, bool sync, struct cfq_queue *process,
				struct cfq_priority priority)
{
	return sync ? process :
		      &cfq->async[priority.class][priority.class == CFQ_IDLE ? 0 : priority.level];
}

static void count_busy(struct cfq_scheduler *cfq, const struct cfq_queue *queue, u32 change)
{
	cfq->busy[queue->priority.class] += change;
	if (!queue->sync)
		return;
	cfq->busy_sync[queue->priority.class] += change;
	if (queue->shares_idle)
		cfq->busy_sharing += change;
}

static void becomes_busy(struct cfq_scheduler *cfq, struct cfq_queue *queue)
{
	queue->shares_idle = !cfq_idles_alone(cfq, queue);
	count_busy(cfq, queue, 1);
}

static void set_priority(struct cfq_scheduler *cfq, struct cfq_queue *queue,
			 struct cfq_priority priority)
{
	bool on_turn = queue->on_turn;

	if (queue->priority.class == priority.class && queue->priority.level == priority.level)
		return;
	if (on_turn)
		cfq_turn_remove(queue);
	if (queue->queued)
		count_busy(cfq, queue, -1);
	queue->priority = priority;
	if (queue->queued)
		count_busy(cfq, queue, 1);
	if (on_turn)
		cfq_turn_add(cfq, queue, queue->turn_key);
}

static void enqueue(struct cfq_scheduler *cfq, struct cfq_queue *queue, struct ios_request *rq)
{
	rq->owner = queue;
	rq->where = IOS_QUEUED;
	ios_sorted_add(&queue->sorted, rq);
	list_add_tail(&rq->fifo, &queue->fifo);
	cfq->queued++;
	if (!queue->queued++)
		becomes_busy(cfq, queue);
}

static void dequeue(struct cfq_scheduler *cfq, struct ios_request *rq)
{
	struct cfq_queue *queue = queue_of(rq);

	rq->where = IOS_OUTSIDE;
	ios_sorted_remove(&queue->sorted, rq);
	list_del_init(&rq->fifo);
	cfq->queued--;
	if (--queue->queued)
		return;
	count_busy(cfq, queue, -1);
	if (queue->on_turn)
		cfq_turn_remove(queue);
}

/* Ends the active queue's turn */
static void expire(struct cfq_scheduler *cfq)
{
	struct cfq_queue *queue = cfq->active;

	cfq->active = NULL;
	cfq->idle_until_ns = 0;
	if (queue->queued)
		cfq_turn_add(cfq, queue, queue->turn_key);
}

/* Ends the turn and sets the next, if it has requests; `left` is the unused rest of its slice */
static void expire_at(struct cfq_scheduler *cfq, u64 now, u64 left)
{
	u64 key = cfq_turn_key(cfq, cfq->active, now);

	cfq->active->turn_key = key > left ? key - left : 0;
	expire(cfq);
}

/*
 * A request for `by` preempts the slice. If it preempts asynchronous requests, all synchronous
 * queues profit: the one that has waited longest is next
 */
static void preempt(struct cfq_scheduler *cfq, struct cfq_queue *by, u64 now)
{
	const struct cfq_queue *active = cfq->active;
	bool from_async = !active->sync && by->sync;
	u64 left = active->slice_ns;

	if (active->slice_running)
		left = active->slice_end_ns > now ? active->slice_end_ns - now : 0;
	expire_at(cfq, now, left);
	if (from_async)
		by = cfq_turn_next_sync(cfq, by->priority.class);
	cfq_turn_remove(by);
	cfq_turn_add(cfq, by, 0);
}

void cfq_add(struct cfq_scheduler *cfq, struct ios_request *rq, struct cfq_queue *process,
	     struct cfq_priority priority, u64 now)
{
	struct cfq_queue *queue = cfq_queue_for(cfq, rq->sync, process, priority);

	if (rq->sync)
		set_priority(cfq, queue, priority);
	cfq_learn(cfq, queue, rq, now);
	rq->arrived_ns = now;
	rq->deadline_ns = now + (rq->sync ? cfq->tunables.fifo_expire_sync_ns :
					    cfq->tunables.fifo_expire_async_ns);
	enqueue(cfq, queue, rq);
	if (queue == cfq->active) {
		cfq->idle_until_ns = 0;
		return;
	}
	if (!queue->on_turn)
		cfq_turn_add(cfq, queue, cfq_turn_key(cfq, queue, now));
	if (cfq_preempts(cfq, queue))
		preempt(cfq, queue, now);
}

static void begin_slice(struct cfq_scheduler *cfq, struct cfq_queue *queue)
{
	cfq_turn_remove(queue);
	cfq->active = queue;
	queue->slice_ns = cfq_scaled_slice_ns(cfq, queue);
	queue->slice_running = false;
	queue->slice_dispatched = 0;
	queue->fifo_checked = false;
}

/* The active queue, with requests; NULL: none, or wait */
static struct cfq_queue *choose_queue(struct cfq_scheduler *cfq, u64 now)
{
	struct cfq_queue *queue = cfq->active;

	if (queue && !cfq_slice_is_used(queue, now)) {
		if (queue->queued)
			return queue;
		if (cfq->idle_until_ns ? now < cfq->idle_until_ns :
					 queue->in_flight && cfq_should_idle(cfq, queue, now))
			return NULL;
	}
	if (queue)
		expire_at(cfq, now, 0);
	queue = cfq_turn_next(cfq);
	if (queue)
		begin_slice(cfq, queue);
	return queue;
}

static bool may_dispatch(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now)
{
	/* Asynchronous requests wait while a synchronous one is in flight */
	if (!queue->sync && cfq->in_flight[true])
		return false;
	/* A process that the disk will wait for gets it without asynchronous requests in flight */
	if (queue->sync && cfq->tunables.slice_idle_ns && cfq->in_flight[false] &&
	    cfq_idles_alone(cfq, queue))
		return false;
	return queue->in_flight < cfq_depth(cfq, queue, now);
}

/* The oldest request if it is overdue when the slice begins; else the next of the sweep */
static struct ios_request *choose_request(struct cfq_scheduler *cfq, struct cfq_queue *queue,
					  u64 now)
{
	struct ios_request *oldest = ios_fifo_head(&queue->fifo);

	if (!queue->fifo_checked) {
		queue->fifo_checked = true;
		if (now >= oldest->deadline_ns)
			return oldest;
	}
	return ios_sweep_next(&cfq->tunables.sweep, &queue->sorted, cfq->head);
}

static void send(struct cfq_scheduler *cfq, struct ios_request *rq)
{
	struct cfq_queue *queue = queue_of(rq);

	dequeue(cfq, rq);
	rq->where = IOS_IN_FLIGHT;
	queue->in_flight++;
	queue->slice_dispatched++;
	cfq->in_flight[rq->sync]++;
	cfq->max_in_flight = max(cfq->max_in_flight, cfq->in_flight[false] + cfq->in_flight[true]);
	cfq->head = ios_end(rq);
}

struct ios_request *cfq_dispatch(struct cfq_scheduler *cfq, u64 now)
{
	struct cfq_queue *queue = choose_queue(cfq, now);
	struct ios_request *rq;
	bool others;

	if (!queue || !may_dispatch(cfq, queue, now))
		return NULL;
	rq = choose_request(cfq, queue, now);
	others = cfq_busy(cfq) > 1;
	send(cfq, rq);
	if (others &&
	    (queue->priority.class == CFQ_IDLE ||
	     (!queue->sync && queue->slice_dispatched >=
				      cfq_slice_async_max(&cfq->tunables, queue->priority.level))))
		expire_at(cfq, now, 0);
	return rq;
}

u64 cfq_wake_ns(const struct cfq_scheduler *cfq)
{
	return cfq->idle_until_ns && cfq->queued ? cfq_idle_end_ns(cfq) : IOS_NEVER;
}

static void drop_in_flight(struct cfq_scheduler *cfq, struct ios_request *rq)
{
	rq->where = IOS_OUTSIDE;
	queue_of(rq)->in_flight--;
	cfq->in_flight[rq->sync]--;
}

/* The active queue has nothing queued and nothing in flight */
static void idle_or_expire(struct cfq_scheduler *cfq, struct cfq_queue *queue, u64 now)
{
	if (!cfq_slice_is_used(queue, now) && cfq_should_idle(cfq, queue, now))
		cfq->idle_until_ns = now + cfq->tunables.slice_idle_ns;
	else
		expire_at(cfq, now, 0);
}

void cfq_complete(struct cfq_scheduler *cfq, struct ios_request *rq, u64 now)
{
	struct cfq_queue *queue = queue_of(rq);

	drop_in_flight(cfq, rq);
	queue->done_ns = now;
	if (rq->sync && !cfq_idles_alone(cfq, queue))
		cfq->shared_done_ns = now;
	if (rq->sync && now - rq->arrived_ns > cfq->tunables.fifo_expire_sync_ns)
		cfq->delayed_sync_ns = now;
	if (queue != cfq->active)
		return;
	if (!queue->slice_running) {
		queue->slice_running = true;
		queue->slice_end_ns = now + queue->slice_ns;
	}
	if (!queue->queued && !queue->in_flight)
		idle_or_expire(cfq, queue, now);
}

void cfq_forget(struct cfq_scheduler *cfq, struct ios_request *rq)
{
	struct cfq_queue *queue = queue_of(rq);

	if (rq->where == IOS_QUEUED)
		dequeue(cfq, rq);
	else if (rq->where == IOS_IN_FLIGHT)
		drop_in_flight(cfq, rq);
	if (queue && queue->exited)
		cfq_process_exits(cfq, queue);
}

void cfq_resize(struct cfq_scheduler *cfq, struct ios_request *rq, u64 sector, u32 sectors)
{
	struct rb_root_cached *sorted = &queue_of(rq)->sorted;

	(void)cfq;	/* for a uniform signature */
	rq->sectors = sectors;
	if (rq->sector == sector)
		return;
	ios_sorted_remove(sorted, rq);
	rq->sector = sector;
	ios_sorted_add(sorted, rq);
}

void cfq_absorb(struct cfq_scheduler *cfq, struct ios_request *rq, struct ios_request *other)
{
	if (other->where == IOS_QUEUED && rq->owner == other->owner &&
	    other->deadline_ns < rq->deadline_ns) {
		rq->deadline_ns = other->deadline_ns;
		list_del_init(&rq->fifo);
		list_add_tail(&rq->fifo, &other->fifo);
	}
	cfq_forget(cfq, other);
}

void cfq_process_exits(struct cfq_scheduler *cfq, struct cfq_queue *process)
{
	process->exited = true;
	if (cfq->active == process && !process->queued && !process->in_flight)
		expire(cfq);
}
