// SPDX-License-Identifier: GPL-2.0-only
/* The length of a slice, and the number of requests of a queue in flight in it. */
#include "cfq.h"

#define UNLIMITED	0xffffffffu

/*
 * Each level above or below the normal one changes the base by a fifth: 180 %, 100 % and 40 % at 0,
 * 4 and 7
 */
u64 cfq_slice_ns(const struct cfq_tunables *tunables, bool sync, u32 level)
{
	u64 base = sync ? tunables->slice_sync_ns : tunables->slice_async_ns;
	u64 step = div64_u64(base, 5);

	return level <= CFQ_NORMAL ? base + step * (CFQ_NORMAL - level) :
				     base - step * (level - CFQ_NORMAL);
}

/*
 * With low_latency, slices shrink so that all synchronous queues of a class have their turn within
 * target_latency. They are never shorter than two idle waits, or they would consist of waiting
 * only.
 */
u64 cfq_scaled_slice_ns(const struct cfq_scheduler *cfq, const struct cfq_queue *queue)
{
	const struct cfq_tunables *tunables = &cfq->tunables;
	u64 slice = cfq_slice_ns(tunables, queue->sync, queue->priority.level);
	u64 round, shortest, scaled;

	if (!tunables->low_latency || !queue->sync)
		return slice;
	round = tunables->slice_sync_ns * cfq->busy_sync[queue->priority.class];
	if (round <= tunables->target_latency_ns || !tunables->slice_sync_ns)
		return slice;
	shortest = div64_u64(2 * tunables->slice_idle_ns * (slice / IOS_NSEC_PER_USEC),
			     tunables->slice_sync_ns / IOS_NSEC_PER_USEC);
	scaled = div64_u64(slice / IOS_NSEC_PER_USEC * tunables->target_latency_ns,
			   round / IOS_NSEC_PER_USEC);
	return max(scaled, min(shortest, slice));
}

/*
 * A slice's clock starts when its first request completes: the seek to it is not charged to the
 * queue
 */
bool cfq_slice_is_used(const struct cfq_queue *queue, u64 now)
{
	return queue->slice_running && now >= queue->slice_end_ns;
}

/*
 * The asynchronous requests of a slice while others wait: 4 x slice_async_rq to 32 x, by level; 16
 * at the normal level
 */
u32 cfq_slice_async_max(const struct cfq_tunables *tunables, u32 level)
{
	return 2 * tunables->slice_async_rq * (CFQ_LEVELS - level);
}

u32 cfq_busy(const struct cfq_scheduler *cfq)
{
	return cfq->busy[CFQ_RT] + cfq->busy[CFQ_BE] + cfq->busy[CFQ_IDLE];
}

static bool is_early(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now)
{
	return !queue->slice_running ||
	       now + cfq->tunables.slice_idle_ns * queue->in_flight < queue->slice_end_ns;
}

/* Grows by one for each synchronous slice since the last late synchronous request */
static u32 async_depth(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now)
{
	u64 depth = div64_u64(now - cfq->delayed_sync_ns,
			      cfq_slice_ns(&cfq->tunables, true, CFQ_NORMAL));

	if (!depth && !queue->in_flight)
		return 1;
	return min_t(u64, depth, UNLIMITED);
}

/* Requests of the queue that may be in flight */
u32 cfq_depth(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now)
{
	u32 depth = max(cfq->tunables.quantum / 2, 1u);

	if (queue->priority.class == CFQ_IDLE)
		return 1;
	if (cfq_busy(cfq) == 1)
		depth = UNLIMITED;
	else if (is_early(cfq, queue, now))
		depth = max(cfq->tunables.quantum, depth);
	if (queue->sync || !cfq->tunables.low_latency)
		return depth;
	return min(async_depth(cfq, queue, now), depth);
}
