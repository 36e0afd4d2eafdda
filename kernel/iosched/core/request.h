/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scheduler's record of a request. Times are ns of one monotonic clock; sectors have 512 bytes.
 *
 * The owner of the record fills in the upper part and calls ios_request_init(); the rest belongs to
 * the scheduler.
 */
#ifndef IOSCHED_REQUEST_H
#define IOSCHED_REQUEST_H

#include "sorted.h"

enum ios_where {
	IOS_OUTSIDE,		/* not in the scheduler */
	IOS_QUEUED,
	IOS_IN_FLIGHT,		/* dispatched and not yet completed */
};

struct ios_request {
	u64 sector;
	u32 sectors;
	bool sync;		/* someone waits for it: a read, or a write marked synchronous */
	bool more_follows;	/* its sender is likely to send another when it completes */

	enum ios_where where;
	u64 arrived_ns;
	u64 deadline_ns;
	void *owner;		/* the process or the queue that it belongs to */
	struct rb_node node;	/* by sector */
	struct list_head fifo;	/* by arrival */
};

static inline void ios_request_init(struct ios_request *rq)
{
	rq->where = IOS_OUTSIDE;
	rq->owner = NULL;
	INIT_LIST_HEAD(&rq->fifo);
}

static inline u64 ios_end(const struct ios_request *rq)
{
	return rq->sector + rq->sectors;
}

static inline struct ios_request *ios_fifo_head(const struct list_head *fifo)
{
	return list_empty(fifo) ? NULL : list_first_entry(fifo, struct ios_request, fifo);
}

#endif
