/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The anticipatory scheduler: deadline's batches and expiry; after a read it waits briefly for the
 * next read of the same process, before the head moves away.
 *
 * All times are ns. "Reads" are synchronous requests, "writes" asynchronous ones: a write that
 * someone waits for (O_DIRECT, fsync) counts as a read. The rules are described one by one in
 * docs/schedulers.md.
 *
 * The caller serialises all calls, and calls as_dispatch() again after each as_add(),
 * as_complete(), as_forget(), as_process_exits(), and at as_wake_ns().
 */
#ifndef IOSCHED_AS_H
#define IOSCHED_AS_H

#include "mean.h"
#include "request.h"

enum as_class { AS_READ, AS_WRITE, AS_CLASSES };

struct as_tunables {
	u64 expire_ns[AS_CLASSES]; /* an older queued request interrupts the sweep */
	u64 batch_expire_ns[AS_CLASSES];
	u64 antic_expire_ns; /* longest wait; 0: no waits, and any number of reads in flight */
};

/* The reason why a wait ended or did not begin */
enum as_reason {
	AS_WAIT, /* no reason: wait */
	AS_SAME_PROCESS, /* the next request is from the same process */
	/* it has other requests queued or in flight, so it does not wait for this one alone */
	AS_PROCESS_HAS_IO,
	AS_CLOSE, /* the next request is close enough */
	AS_THINKS_LONG, /* the process's mean think time is above antic_expire */
	AS_EXITED, /* it has exited, and so far no close request followed an exit */
	AS_EXPIRED, /* antic_expire is over */
	AS_OVERDUE, /* a queued read is past its deadline */
	/* no read has completed since the last wait or write batch; or antic_expire is 0 */
	AS_NO_PROCESS,
	AS_REASONS,
};

/* A process's history; zeroed before its first request */
struct as_process {
	bool exited;
	u32 queued[AS_CLASSES];
	u32 in_flight[AS_CLASSES];
	u64 done_ns;			/* the last completion of a read; 0: none */
	u64 end_sector;			/* behind its last read, in the order of arrival */
	bool has_read;
	struct ios_mean think_ns;
	struct ios_mean seek_sectors;
};

struct as_queue {
	struct rb_root_cached sorted;
	struct list_head fifo;
	u32 queued;
	u32 in_flight;
	u64 fifo_checked_ns;
};

struct as_scheduler {
	struct as_tunables tunables;
	struct as_queue queues[AS_CLASSES];
	u64 head;			/* sector behind the last request dispatched */

	/* The batch */
	enum as_class class;
	bool changing; /* the batch's first request waits for the last of the old batch */
	u64 batch_start_ns, batch_end_ns;
	u32 writes_allowed;		/* size of a write batch; adaptive */
	u32 writes_left;
	bool writes_idled; /* the write batch ran empty, so its duration does not show its size */
	u64 writes_done_ns;		/* the last completion of a write */

	/* Anticipation */
	struct as_process *last;	/* of the last completed read; NULL: none to wait for */
	u64 last_end, last_done_ns;	/* the end and completion time of that read */
	bool waiting;
	struct ios_mean think_ns;	/* of all processes, for those without a history */
	struct as_process exited_process; /* replaces the last process after its exit */
	bool exit_pending;		/* no close read has come since */
	/* 256: no close read came in time after an exit; 0: one did */
	struct ios_mean exit_no_coop;
	u64 ended[AS_REASONS];		/* number of waits by the reason of their end */
};

void as_init(struct as_scheduler *as, const struct as_tunables *tunables);
void as_default_tunables(struct as_tunables *tunables);

/*
 * Adds a request; its sector, sectors and sync must be set. `process` must live until it completes
 */
void as_add(struct as_scheduler *as, struct ios_request *rq, struct as_process *process, u64 now);

/* The request to send now; NULL: none for now */
struct ios_request *as_dispatch(struct as_scheduler *as, u64 now);

/* The time at which as_dispatch() may return a request if nothing else happens; IOS_NEVER: none */
u64 as_wake_ns(const struct as_scheduler *as);

void as_complete(struct as_scheduler *as, struct ios_request *rq, u64 now);

/* A request leaves without completion: merged into another, or to return by another way */
void as_forget(struct as_scheduler *as, struct ios_request *rq);

/* A queued request has grown: its new start and length */
void as_resize(struct as_scheduler *as, struct ios_request *rq, u64 sector, u32 sectors);

/* `rq` has absorbed `other`, which leaves: the earlier deadline holds */
void as_absorb(struct as_scheduler *as, struct ios_request *rq, struct ios_request *other);

/* The process sends no more requests; its memory must live only until its last request completes */
void as_process_exits(struct as_scheduler *as, struct as_process *process);

static inline u32 as_queued(const struct as_scheduler *as)
{
	return as->queues[AS_READ].queued + as->queues[AS_WRITE].queued;
}

/* Inside the core */
void as_learn(struct as_scheduler *as, struct as_process *process, const struct ios_request *rq,
	      u64 now);
void as_learn_exit(struct as_scheduler *as, bool followed);
void as_learn_after_exit(struct as_scheduler *as, const struct ios_request *rq, u64 now);
enum as_reason as_reason_against(const struct as_scheduler *as, const struct ios_request *next,
				 u64 now);
void as_wait_end(struct as_scheduler *as, enum as_reason reason);
void as_wait_arrival(struct as_scheduler *as, const struct ios_request *rq, u64 now);
u64 as_wait_until(const struct as_scheduler *as);
u64 as_overdue_ns(const struct as_queue *queue, u64 expire_ns);
extern const struct ios_sweep as_sweep;

#endif
