// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether the disk idles for a process that is likely to send its next request soon, from
 * the process's habits.
 */
#include "cfq.h"

#define SEEK_SECTORS		800	/* a longer jump is a seek */
#define SEEKY_ABOVE		4	/* of the last 32 */

/*
 * A medium without seeks that has had more requests in flight than this works on several at once:
 * idling is useless
 */
#define QUEUES_DEEP_ABOVE	4

bool cfq_is_seeky(const struct cfq_queue *queue)
{
	return hweight32(queue->seeks) > SEEKY_ABOVE;
}

/*
 * True if the disk waits for this queue alone; the others share one wait, when the last of them
 * runs empty
 */
bool cfq_idles_alone(const struct cfq_scheduler *cfq, const struct cfq_queue *queue)
{
	bool cheap_seeks = cfq->cheap_seeks && cfq->max_in_flight > QUEUES_DEEP_ABOVE;

	return !cheap_seeks && !cfq_is_seeky(queue) && queue->more_follows &&
	       ios_mean_value(&queue->think_ns) <= cfq->tunables.slice_idle_ns;
}

/*
 * Longer think times are clamped to twice the wait: otherwise one long pause would outweigh many
 * requests
 */
static u64 think_ns(const struct cfq_scheduler *cfq, u64 from, u64 to)
{
	return min(to - from, 2 * cfq->tunables.slice_idle_ns);
}

void cfq_learn(struct cfq_scheduler *cfq, struct cfq_queue *queue, const struct ios_request *rq,
	       u64 now)
{
	u64 jump = rq->sector >= queue->end_sector ? rq->sector - queue->end_sector :
						     queue->end_sector - rq->sector;

	if (queue->done_ns && !queue->queued && !queue->in_flight)
		ios_mean_add(&queue->think_ns, think_ns(cfq, queue->done_ns, now));
	queue->seeks = queue->seeks << 1 | (queue->has_sent && jump > SEEK_SECTORS);
	queue->has_sent = true;
	queue->end_sector = ios_end(rq);
	queue->more_follows = rq->more_follows;
	if (queue->sync && cfq->shared_done_ns && !cfq->busy_sharing &&
	    !cfq_idles_alone(cfq, queue))
		ios_mean_add(&cfq->shared_think_ns, think_ns(cfq, cfq->shared_done_ns, now));
}

/* `queue` has the slice and no more requests */
bool cfq_should_idle(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now)
{
	u64 think;

	if (!queue->sync || queue->exited || queue->priority.class == CFQ_IDLE ||
	    !cfq->tunables.slice_idle_ns)
		return false;
	if (!cfq_idles_alone(cfq, queue))
		return !cfq->busy_sharing &&
		       ios_mean_value(&cfq->shared_think_ns) <= cfq->tunables.slice_idle_ns;
	think = ios_mean_value(&queue->think_ns);
	return !queue->slice_running || now + think < queue->slice_end_ns;
}

/* The wait ends with the slice at the latest */
u64 cfq_idle_end_ns(const struct cfq_scheduler *cfq)
{
	const struct cfq_queue *queue = cfq->active;

	return queue->slice_running ? min(queue->slice_end_ns, cfq->idle_until_ns) :
				      cfq->idle_until_ns;
}
