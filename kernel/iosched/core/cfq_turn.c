// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of turns: real-time queues first, then best-effort ones, then idle ones; within a class
 * by key.
 */
#include "cfq.h"

/*
 * A queue's turn is later, the lower its level is and the more other queues there are; the unused
 * rest of a preempted slice counts in its favour. The key is a time, so a queue that has waited for
 * long always precedes a new one.
 */
u64 cfq_turn_key(const struct cfq_scheduler *cfq, const struct cfq_queue *queue, u64 now)
{
	u32 others = cfq->busy[queue->priority.class];
	u64 behind = cfq_slice_ns(&cfq->tunables, true, 0) -
		     cfq_slice_ns(&cfq->tunables, queue->sync, queue->priority.level);

	return now + (others > 1 ? others - 1 : 0) * behind;
}

void cfq_turn_add(struct cfq_scheduler *cfq, struct cfq_queue *queue, u64 key)
{
	struct list_head *turns = &cfq->turns[queue->priority.class];
	struct list_head *later;

	list_for_each(later, turns)
		if (list_entry(later, struct cfq_queue, turn)->turn_key > key)
			break;
	queue->turn_key = key;
	queue->on_turn = true;
	list_add_tail(&queue->turn, later);
}

void cfq_turn_remove(struct cfq_queue *queue)
{
	list_del_init(&queue->turn);
	queue->on_turn = false;
}

struct cfq_queue *cfq_turn_next(const struct cfq_scheduler *cfq)
{
	int class;

	for (class = 0; class < CFQ_CLASSES; class++)
		if (!list_empty(&cfq->turns[class]))
			return list_first_entry(&cfq->turns[class], struct cfq_queue, turn);
	return NULL;
}

struct cfq_queue *cfq_turn_next_sync(const struct cfq_scheduler *cfq, enum cfq_class class)
{
	struct cfq_queue *queue;

	list_for_each_entry(queue, &cfq->turns[class], turn)
		if (queue->sync)
			return queue;
	return NULL;
}

/* True if a request for `queue` preempts the active queue */
bool cfq_preempts(const struct cfq_scheduler *cfq, const struct cfq_queue *queue)
{
	const struct cfq_queue *active = cfq->active;

	if (!active || active == queue)
		return false;
	if (queue->priority.class != active->priority.class)
		return queue->priority.class < active->priority.class;
	if (queue->sync != active->sync)
		/* but one request of each turn is dispatched */
		return queue->sync && active->slice_dispatched;
	/* The shared wait is for any queue without a wait of its own */
	return cfq->idle_until_ns && queue->sync && !cfq_idles_alone(cfq, active) &&
	       !cfq_idles_alone(cfq, queue);
}
