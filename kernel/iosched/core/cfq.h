/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CFQ, completely fair queueing: each process that waits for its requests has a queue, and the
 * queues take turns on the disk by time slices. Requests that nobody waits for share one queue per
 * priority.
 *
 * All times are ns. The rules are described one by one in docs/schedulers.md.
 *
 * The caller serialises all calls, and calls cfq_dispatch() again after each cfq_add(),
 * cfq_complete(), cfq_forget(), cfq_process_exits(), and at cfq_wake_ns().
 */
#ifndef IOSCHED_CFQ_H
#define IOSCHED_CFQ_H

#include "mean.h"
#include "request.h"
#include "sweep.h"

#define CFQ_LEVELS	8	/* of the classes RT and BE; 0 is the highest */
#define CFQ_NORMAL	4

enum cfq_class { CFQ_RT, CFQ_BE, CFQ_IDLE, CFQ_CLASSES };

struct cfq_priority {
	enum cfq_class class;
	u32 level;
};

struct cfq_tunables {
	u32 quantum;			/* requests in flight of one queue */
	u64 fifo_expire_sync_ns, fifo_expire_async_ns;
	struct ios_sweep sweep;		/* back_seek_max, back_seek_penalty */
	u64 slice_sync_ns, slice_async_ns;
	u32 slice_async_rq; /* scale of the number of asynchronous requests in a slice */
	u64 slice_idle_ns;		/* longest wait for a process's next request */
	/* between groups of processes; unused, because there is one group */
	u64 group_idle_ns;
	bool low_latency;
	/* with low_latency: the time in which all queues of a class get their turn */
	u64 target_latency_ns;
};

struct cfq_queue {
	struct cfq_priority priority;
	bool sync;
	bool exited;			/* its process has exited */
	bool on_turn;			/* in its class's order of turns */
	bool shares_idle; /* as it was when its requests came: it has no wait of its own */
	struct list_head turn;
	u64 turn_key;

	struct rb_root_cached sorted;
	struct list_head fifo;
	u32 queued, in_flight;

	/* The slice */
	u64 slice_ns, slice_end_ns;
	bool slice_running;		/* the slice's first request has completed */
	bool fifo_checked;		/* once in a slice */
	u32 slice_dispatched;

	/* Habits */
	u32 seeks; /* a bit for each of the last 32 requests: far from the one before */
	u64 end_sector;			/* behind the last request, in the order of arrival */
	bool has_sent;
	bool more_follows;		/* set by the last request */
	u64 done_ns;			/* the last completion; 0: none */
	struct ios_mean think_ns;
};

struct cfq_scheduler {
	struct cfq_tunables tunables;
	bool cheap_seeks;		/* the medium does not rotate */

	struct list_head turns[CFQ_CLASSES];
	struct cfq_queue async[CFQ_CLASSES][CFQ_LEVELS];	/* of CFQ_IDLE only the first */
	struct cfq_queue *active;	/* the owner of the slice */
	u64 idle_until_ns;		/* end of the wait for the empty active queue; 0: none */
	u64 head;			/* sector behind the last request dispatched */

	u32 queued;
	u32 in_flight[2];		/* of asynchronous and of synchronous requests */
	u32 max_in_flight;
	u32 busy[CFQ_CLASSES]; /* queues with requests, including the active one if it has some */
	u32 busy_sync[CFQ_CLASSES];
	u32 busy_sharing; /* synchronous queues with requests and without a wait of their own */
	u64 shared_done_ns; /* the last completion in such a queue; 0: none */
	struct ios_mean shared_think_ns; /* from there to the next request of any of them */
	/* the last late completion of a synchronous request; initially the start - 1 s */
	u64 delayed_sync_ns;
};

void cfq_default_tunables(struct cfq_tunables *tunables);
void cfq_init(struct cfq_scheduler *cfq, const struct cfq_tunables *tunables, u64 now);
void cfq_queue_init(struct cfq_queue *queue, bool sync);

/*
 * Adds a request; its sector, sectors, sync and more_follows must be set. For synchronous requests,
 * `process` is the queue of the sending process; it must live until they complete.
 */
void cfq_add(struct cfq_scheduler *cfq, struct ios_request *rq, struct cfq_queue *process,
	     struct cfq_priority priority, u64 now);

/* The request to send now; NULL: none for now */
struct ios_request *cfq_dispatch(struct cfq_scheduler *cfq, u64 now);

/* The time at which cfq_dispatch() may return a request if nothing else happens; IOS_NEVER: none */
u64 cfq_wake_ns(const struct cfq_scheduler *cfq);

void cfq_complete(struct cfq_scheduler *cfq, struct ios_request *rq, u64 now);

/* A request leaves without completion: merged into another, or to return by another way */
void cfq_forget(struct cfq_scheduler *cfq, struct ios_request *rq);

/* A queued request has grown: its new start and length */
void cfq_resize(struct cfq_scheduler *cfq, struct ios_request *rq, u64 sector, u32 sectors);

/* `rq` has absorbed `other`, which leaves: the earlier deadline holds */
void cfq_absorb(struct cfq_scheduler *cfq, struct ios_request *rq, struct ios_request *other);

/* The process sends no more requests; its memory must live only until its last request completes */
void cfq_process_exits(struct cfq_scheduler *cfq, struct cfq_queue *process);

static inline u32 cfq_queued(const struct cfq_scheduler *cfq)
{
	return cfq->queued;
}

/* The queue for such a request of such a process */
struct cfq_queue *cfq_queue_for(struct cfq_scheduler *cfq, bool sync, struct cfq_queue *process,
				struct cfq_priority priority);

/* Inside the core: slices (cfq_slice.c) */
u64 cfq_slice_ns(const struct cfq_tunables *tunables, bool sync, u32 level);
u64 cfq_scaled_slice_ns(const struct cfq_scheduler *cfq, const struct cfq_queue *queue);
bool cfq_slice_is_used(const struct cfq_queue *queue, u64 now);
u32 cfq_slice_async_max(const struct cfq_tunables *tunables, u32 level);
u32 cfq_depth(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now);
u32 cfq_busy(const struct cfq_scheduler *cfq);

/* Inside the core: habits and idling (cfq_idle.c) */
void cfq_learn(struct cfq_scheduler *cfq, struct cfq_queue *queue, const struct ios_request *rq,
	       u64 now);
bool cfq_is_seeky(const struct cfq_queue *queue);
bool cfq_idles_alone(const struct cfq_scheduler *cfq, const struct cfq_queue *queue);
bool cfq_should_idle(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now);
u64 cfq_idle_end_ns(const struct cfq_scheduler *cfq);

/* Inside the core: turns (cfq_turn.c) */
void cfq_turn_add(struct cfq_scheduler *cfq, struct cfq_queue *queue, u64 key);
void cfq_turn_remove(struct cfq_queue *queue);
struct cfq_queue *cfq_turn_next(const struct cfq_scheduler *cfq);
struct cfq_queue *cfq_turn_next_sync(const struct cfq_scheduler *cfq, enum cfq_class class);
u64 cfq_turn_key(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now);
bool cfq_preempts(const struct cfq_scheduler *cfq, const struct cfq_queue *queue);

#endif
