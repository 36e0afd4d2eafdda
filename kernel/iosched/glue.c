// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blk-mq glue: blk-mq calls the functions of this file, and they call the core with the lock
 * held.
 *
 * If the core returns no request although it has some (it waits for a process, or for requests in
 * flight), the hardware queue stays idle until an event: a request arrives or completes, a process
 * exits, or the core's wake-up time comes. Then `held_back` is cleared and the queue is run.
 *
 * Locks: the io_context's lock is taken before the glue's own (exit_icq), so nothing here takes one
 * of the block layer's with that held.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "glue.h"

struct glue_requests {
	unsigned int count;
	struct glue_request at[];
};

/* ---- merging: blk-mq's record of requests that may grow ---- */

static void glue_merge_remember(struct request *rq)
{
	if (!rq_mergeable(rq))
		return;
	elv_rqhash_add(rq->q, rq);
	if (!rq->q->last_merge)
		rq->q->last_merge = rq;
}

static void glue_merge_forget(struct request *rq)
{
	elv_rqhash_del(rq->q, rq);
	if (rq->q->last_merge == rq)
		rq->q->last_merge = NULL;
}

/* ---- events ---- */

/*
 * Handles an event: true if the hardware queue must be run for it. After an insertion blk-mq runs
 * it itself
 */
static bool glue_wake(struct glue *glue)
{
	bool was_held_back = glue->held_back;

	WRITE_ONCE(glue->held_back, false);
	WRITE_ONCE(glue->has_queued, glue->core->queued(glue));
	return was_held_back && glue->has_queued;
}

static enum hrtimer_restart glue_timer_expired(struct hrtimer *timer)
{
	struct glue *glue = container_of(timer, struct glue, timer);
	unsigned long flags;
	bool run;

	spin_lock_irqsave(&glue->lock, flags);
	run = glue_wake(glue);
	spin_unlock_irqrestore(&glue->lock, flags);
	if (run)
		blk_mq_run_hw_queues(glue->queue, true);
	return HRTIMER_NORESTART;
}

static void glue_set_timer(struct glue *glue)
{
	u64 wake_ns = glue->core->wake_ns(glue);

	if (wake_ns != IOS_NEVER)
		hrtimer_start(&glue->timer, ns_to_ktime(wake_ns), HRTIMER_MODE_ABS);
	else
		hrtimer_try_to_cancel(&glue->timer);
}

static void glue_insert_one(struct glue *glue, struct request *rq, bool at_head,
			    struct list_head *merged)
{
	struct glue_request *record = glue_request(rq);

	if (at_head || !record || blk_rq_is_passthrough(rq)) {
		if (at_head)
			list_add(&rq->queuelist, &glue->bypass);
		else
			list_add_tail(&rq->queuelist, &glue->bypass);
		WRITE_ONCE(glue->has_bypass, true);
		return;
	}
	if (blk_mq_sched_try_insert_merge(rq->q, rq, merged))
		return;
	ios_request_init(&record->core);
	record->rq = rq;
	record->core.sector = blk_rq_pos(rq);
	record->core.sectors = blk_rq_sectors(rq);
	record->core.sync = op_is_sync(rq->cmd_flags);
	record->core.more_follows = !op_is_write(rq->cmd_flags) || rq->cmd_flags & REQ_IDLE;
	glue->core->add(glue, &record->core, rq, ktime_get_ns());
	glue_merge_remember(rq);
}

void glue_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list,
			  ios_insert_flags insert_flags)
{
	struct glue *glue = glue_of(hctx->queue);
	unsigned long flags;
	LIST_HEAD(merged);

	spin_lock_irqsave(&glue->lock, flags);
	while (!list_empty(list)) {
		struct request *rq = list_first_entry(list, struct request, queuelist);

		list_del_init(&rq->queuelist);
		glue_insert_one(glue, rq, ios_at_head(insert_flags), &merged);
	}
	glue_wake(glue);
	spin_unlock_irqrestore(&glue->lock, flags);
	blk_mq_free_requests(&merged);
}

static struct request *glue_take_bypass(struct glue *glue)
{
	struct request *rq = list_first_entry_or_null(&glue->bypass, struct request, queuelist);

	if (!rq)
		return NULL;
	list_del_init(&rq->queuelist);
	WRITE_ONCE(glue->has_bypass, !list_empty(&glue->bypass));
	return rq;
}

static struct request *glue_take_from_core(struct glue *glue)
{
	struct ios_request *core = glue->core->dispatch(glue, ktime_get_ns());
	struct request *rq;

	WRITE_ONCE(glue->has_queued, glue->core->queued(glue));
	if (!core) {
		WRITE_ONCE(glue->held_back, true);
		glue_set_timer(glue);
		return NULL;
	}
	rq = container_of(core, struct glue_request, core)->rq;
	glue_merge_forget(rq);
	hrtimer_try_to_cancel(&glue->timer);
	return rq;
}

struct request *glue_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct glue *glue = glue_of(hctx->queue);
	unsigned long flags;
	struct request *rq;

	spin_lock_irqsave(&glue->lock, flags);
	rq = glue_take_bypass(glue);
	if (!rq)
		rq = glue_take_from_core(glue);
	if (rq)
		rq->rq_flags |= RQF_STARTED;	/* no bio can be merged into it any more */
	spin_unlock_irqrestore(&glue->lock, flags);
	return rq;
}

bool glue_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct glue *glue = glue_of(hctx->queue);

	return READ_ONCE(glue->has_bypass) ||
	       (READ_ONCE(glue->has_queued) && !READ_ONCE(glue->held_back));
}

/* A request that leaves the queue or the disk also leaves the core */
static void glue_remove(struct request *rq, bool completed, u64 now)
{
	struct glue *glue = glue_of(rq->q);
	struct glue_request *record = glue_request(rq);
	unsigned long flags;
	bool run;

	if (!record || record->core.where == IOS_OUTSIDE)
		return;
	spin_lock_irqsave(&glue->lock, flags);
	if (completed && record->core.where == IOS_IN_FLIGHT)
		glue->core->complete(glue, &record->core, now);
	else
		glue->core->forget(glue, &record->core);
	run = glue_wake(glue);
	spin_unlock_irqrestore(&glue->lock, flags);
	if (run)
		blk_mq_run_hw_queues(rq->q, true);
}

void glue_completed_request(struct request *rq, u64 now)
{
	glue_remove(rq, true, now);
}

/* It is inserted again at the head, which bypasses the core */
void glue_requeue_request(struct request *rq)
{
	glue_remove(rq, false, 0);
}

/* Called in the context of the process that sends the request */
void glue_prepare_request(struct request *rq)
{
	struct glue_requests *records = rq->mq_hctx->sched_data;
	struct glue_request *record = NULL;

	if ((unsigned int)rq->internal_tag < records->count) {
		record = &records->at[rq->internal_tag];
		ios_request_init(&record->core);
	}
	rq->elv.priv[0] = record;
	rq->elv.icq = ioc_find_get_icq(rq->q);
}

void glue_finish_request(struct request *rq)
{
	glue_remove(rq, false, 0);
	if (rq->elv.icq)
		put_io_context(rq->elv.icq->ioc);
	rq->elv.icq = NULL;
}

void glue_exit_icq(struct io_cq *icq)
{
	struct glue *glue = glue_of(icq->q);
	unsigned long flags;
	bool run;

	spin_lock_irqsave(&glue->lock, flags);
	glue->core->process_exits(glue, icq);
	run = glue_wake(glue);
	spin_unlock_irqrestore(&glue->lock, flags);
	if (run)
		blk_mq_run_hw_queues(icq->q, true);
}

/* ---- merging ---- */

static struct io_cq *glue_icq_of_current(struct request_queue *q)
{
	struct io_cq *icq;

	if (!current->io_context)
		return NULL;
	spin_lock_irq(&q->queue_lock);
	icq = ioc_lookup_icq(q);
	spin_unlock_irq(&q->queue_lock);
	return icq;
}

bool glue_bio_merge(struct request_queue *q, struct bio *bio, unsigned int segments)
{
	struct glue *glue = glue_of(q);
	struct io_cq *icq = glue_icq_of_current(q);
	struct request *merged = NULL;
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&glue->lock, flags);
	glue->merging_icq = icq;
	done = blk_mq_sched_try_merge(q, bio, segments, &merged);
	spin_unlock_irqrestore(&glue->lock, flags);
	if (merged)
		blk_mq_free_request(merged);
	return done;
}

/* Synchronous and asynchronous requests must not merge */
bool glue_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio)
{
	return op_is_sync(rq->cmd_flags) == op_is_sync(bio->bi_opf);
}

int glue_request_merge(struct request_queue *q, struct request **found, struct bio *bio)
{
	struct glue *glue = glue_of(q);
	struct ios_request *core = glue->core->find(glue, bio, bio_end_sector(bio));
	struct request *rq;

	if (!core)
		return ELEVATOR_NO_MERGE;
	rq = container_of(core, struct glue_request, core)->rq;
	if (!elv_bio_merge_ok(rq, bio))
		return ELEVATOR_NO_MERGE;
	*found = rq;
	return blk_discard_mergable(rq) ? ELEVATOR_DISCARD_MERGE : ELEVATOR_FRONT_MERGE;
}

static void glue_resize(struct glue *glue, struct request *rq)
{
	struct glue_request *record = glue_request(rq);

	if (record && record->core.where == IOS_QUEUED)
		glue->core->resize(glue, &record->core, blk_rq_pos(rq), blk_rq_sectors(rq));
}

void glue_request_merged(struct request_queue *q, struct request *rq, enum elv_merge type)
{
	glue_resize(glue_of(q), rq);
}

void glue_requests_merged(struct request_queue *q, struct request *rq, struct request *next)
{
	struct glue *glue = glue_of(q);
	struct glue_request *record = glue_request(rq), *other = glue_request(next);

	if (record && other && record->core.where == IOS_QUEUED && other->core.where == IOS_QUEUED)
		glue->core->absorb(glue, &record->core, &other->core);
	glue_resize(glue, rq);
	glue_merge_forget(next);
}

static struct request *glue_request_of(struct ios_request *core)
{
	return core ? container_of(core, struct glue_request, core)->rq : NULL;
}

struct request *glue_former_request(struct request_queue *q, struct request *rq)
{
	struct glue_request *record = glue_request(rq);

	return record && record->core.where == IOS_QUEUED ?
		       glue_request_of(ios_sorted_previous(&record->core)) :
		       NULL;
}

struct request *glue_next_request(struct request_queue *q, struct request *rq)
{
	struct glue_request *record = glue_request(rq);

	return record && record->core.where == IOS_QUEUED ?
		       glue_request_of(ios_sorted_next(&record->core)) :
		       NULL;
}

/* ---- tags ---- */

/*
 * Asynchronous requests get half of the tags, so that a writer that fills its half does not block a
 * reader. (Before blk-mq each kind had nr_requests of its own.) The depth applies to a word of the
 * tags' bitmap.
 */
void glue_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	if (!op_is_sync(opf))
		data->shallow_depth = glue_of(data->q)->async_depth;
}

static int glue_make_requests(struct blk_mq_hw_ctx *hctx)
{
	unsigned int count = hctx->sched_tags->nr_tags;
	struct glue_requests *records;

	glue_of(hctx->queue)->async_depth =
		max(1U, 1U << hctx->sched_tags->bitmap_tags.sb.shift >> 1);
	sbitmap_queue_min_shallow_depth(&hctx->sched_tags->bitmap_tags, 1);
	records = kvzalloc(struct_size(records, at, count), GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	records->count = count;
	kvfree(hctx->sched_data);
	hctx->sched_data = records;
	return 0;
}

int glue_init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	hctx->sched_data = NULL;
	return glue_make_requests(hctx);
}

void glue_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	kvfree(hctx->sched_data);
}

/*
 * The queue is frozen: no request uses the records. Without memory for more, requests beyond them
 * bypass the core
 */
void glue_depth_updated(struct blk_mq_hw_ctx *hctx)
{
	if (glue_make_requests(hctx))
		pr_warn("I/O scheduler: no memory for %u requests\n", hctx->sched_tags->nr_tags);
}

/* ---- the elevator ---- */

int glue_start(struct glue *glue, const struct glue_core_ops *core, struct request_queue *q,
	       struct elevator_type *type)
{
	struct elevator_queue *e = elevator_alloc(q, type);

	if (!e) {
		kfree(glue);
		return -ENOMEM;
	}
	glue->core = core;
	glue->queue = q;
	spin_lock_init(&glue->lock);
	INIT_LIST_HEAD(&glue->bypass);
	hrtimer_init(&glue->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	glue->timer.function = glue_timer_expired;
	e->elevator_data = glue;
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);	/* one order for all hardware queues */
	q->elevator = e;
	return 0;
}

void glue_exit_sched(struct elevator_queue *e)
{
	struct glue *glue = e->elevator_data;

	hrtimer_cancel(&glue->timer);
	WARN_ON_ONCE(glue->core->queued(glue) || !list_empty(&glue->bypass));
	kfree(glue);
}

/* ---- tunables ---- */

int glue_parse_tunable(const char *page, u32 lowest, u32 highest, u32 *number)
{
	int err = kstrtou32(page, 10, number);

	if (err)
		return err;
	return *number < lowest || *number > highest ? -EINVAL : 0;
}
