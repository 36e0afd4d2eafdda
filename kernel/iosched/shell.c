// SPDX-License-Identifier: GPL-2.0-only
/*
 * blk-mq calls the functions of this file; they call the core with the lock held.
 *
 * When the core gives no request although it has some (it waits for a process, or for requests in flight), the hardware
 * queue is left alone until something happens: a request comes or completes, a process exits, or the time comes that
 * the core names. Then `held_back` is cleared and the queue is run.
 *
 * Locks: the io_context's lock is taken before the shell's (exit_icq), so nothing here takes one of the block layer's
 * within the shell's.
 */
#include <linux/mm.h>
#include <linux/sched.h>

#include "shell.h"

struct shell_records {
	unsigned int count;
	struct shell_record at[];
};

/* ---- merging: what blk-mq remembers of requests that may grow ---- */

static void merge_remember(struct request *rq)
{
	if (!rq_mergeable(rq))
		return;
	elv_rqhash_add(rq->q, rq);
	if (!rq->q->last_merge)
		rq->q->last_merge = rq;
}

static void merge_forget(struct request *rq)
{
	elv_rqhash_del(rq->q, rq);
	if (rq->q->last_merge == rq)
		rq->q->last_merge = NULL;
}

/* ---- what happens ---- */

/* Something has happened: true if the hardware queue must be run for it. blk-mq does that itself after an insertion */
static bool shell_wakes(struct shell *shell)
{
	bool was_held_back = shell->held_back;

	WRITE_ONCE(shell->held_back, false);
	WRITE_ONCE(shell->has_queued, shell->core->queued(shell));
	return was_held_back && shell->has_queued;
}

static enum hrtimer_restart shell_time_is_up(struct hrtimer *timer)
{
	struct shell *shell = container_of(timer, struct shell, timer);
	unsigned long flags;
	bool run;

	spin_lock_irqsave(&shell->lock, flags);
	run = shell_wakes(shell);
	spin_unlock_irqrestore(&shell->lock, flags);
	if (run)
		blk_mq_run_hw_queues(shell->queue, true);
	return HRTIMER_NORESTART;
}

static void shell_set_timer(struct shell *shell)
{
	u64 wake_ns = shell->core->wake_ns(shell);

	if (wake_ns != IOS_NEVER)
		hrtimer_start(&shell->timer, ns_to_ktime(wake_ns), HRTIMER_MODE_ABS);
	else
		hrtimer_try_to_cancel(&shell->timer);
}

static void shell_insert_one(struct shell *shell, struct request *rq, bool at_head, struct list_head *merged)
{
	struct shell_record *record = shell_record(rq);

	if (at_head || !record || blk_rq_is_passthrough(rq)) {
		if (at_head)
			list_add(&rq->queuelist, &shell->bypass);
		else
			list_add_tail(&rq->queuelist, &shell->bypass);
		WRITE_ONCE(shell->has_bypass, true);
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
	shell->core->add(shell, &record->core, rq, ktime_get_ns());
	merge_remember(rq);
}

void shell_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list, ios_insert_flags insert_flags)
{
	struct shell *shell = shell_of(hctx->queue);
	unsigned long flags;
	LIST_HEAD(merged);

	spin_lock_irqsave(&shell->lock, flags);
	while (!list_empty(list)) {
		struct request *rq = list_first_entry(list, struct request, queuelist);

		list_del_init(&rq->queuelist);
		shell_insert_one(shell, rq, ios_at_head(insert_flags), &merged);
	}
	shell_wakes(shell);
	spin_unlock_irqrestore(&shell->lock, flags);
	blk_mq_free_requests(&merged);
}

static struct request *take_bypass(struct shell *shell)
{
	struct request *rq = list_first_entry_or_null(&shell->bypass, struct request, queuelist);

	if (!rq)
		return NULL;
	list_del_init(&rq->queuelist);
	WRITE_ONCE(shell->has_bypass, !list_empty(&shell->bypass));
	return rq;
}

static struct request *take_from_core(struct shell *shell)
{
	struct ios_request *core = shell->core->dispatch(shell, ktime_get_ns());
	struct request *rq;

	WRITE_ONCE(shell->has_queued, shell->core->queued(shell));
	if (!core) {
		WRITE_ONCE(shell->held_back, true);
		shell_set_timer(shell);
		return NULL;
	}
	rq = container_of(core, struct shell_record, core)->rq;
	merge_forget(rq);
	hrtimer_try_to_cancel(&shell->timer);
	return rq;
}

struct request *shell_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct shell *shell = shell_of(hctx->queue);
	unsigned long flags;
	struct request *rq;

	spin_lock_irqsave(&shell->lock, flags);
	rq = take_bypass(shell);
	if (!rq)
		rq = take_from_core(shell);
	if (rq)
		rq->rq_flags |= RQF_STARTED;	/* it takes in no more bios */
	spin_unlock_irqrestore(&shell->lock, flags);
	return rq;
}

bool shell_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct shell *shell = shell_of(hctx->queue);

	return READ_ONCE(shell->has_bypass) || (READ_ONCE(shell->has_queued) && !READ_ONCE(shell->held_back));
}

/* A request that has left the queue or the disk leaves the core too */
static void shell_leaves(struct request *rq, bool completed, u64 now)
{
	struct shell *shell = shell_of(rq->q);
	struct shell_record *record = shell_record(rq);
	unsigned long flags;
	bool run;

	if (!record || record->core.where == IOS_OUTSIDE)
		return;
	spin_lock_irqsave(&shell->lock, flags);
	if (completed && record->core.where == IOS_IN_FLIGHT)
		shell->core->complete(shell, &record->core, now);
	else
		shell->core->forget(shell, &record->core);
	run = shell_wakes(shell);
	spin_unlock_irqrestore(&shell->lock, flags);
	if (run)
		blk_mq_run_hw_queues(rq->q, true);
}

void shell_completed_request(struct request *rq, u64 now)
{
	shell_leaves(rq, true, now);
}

/* It will be inserted again, at the head: past the core */
void shell_requeue_request(struct request *rq)
{
	shell_leaves(rq, false, 0);
}

/* Called in the context of the process that sends the request */
void shell_prepare_request(struct request *rq)
{
	struct shell_records *records = rq->mq_hctx->sched_data;
	struct shell_record *record = NULL;

	if ((unsigned int)rq->internal_tag < records->count) {
		record = &records->at[rq->internal_tag];
		ios_request_init(&record->core);
	}
	rq->elv.priv[0] = record;
	rq->elv.icq = ioc_find_get_icq(rq->q);
}

void shell_finish_request(struct request *rq)
{
	shell_leaves(rq, false, 0);
	if (rq->elv.icq)
		put_io_context(rq->elv.icq->ioc);
	rq->elv.icq = NULL;
}

void shell_exit_icq(struct io_cq *icq)
{
	struct shell *shell = shell_of(icq->q);
	unsigned long flags;
	bool run;

	spin_lock_irqsave(&shell->lock, flags);
	shell->core->process_exits(shell, icq);
	run = shell_wakes(shell);
	spin_unlock_irqrestore(&shell->lock, flags);
	if (run)
		blk_mq_run_hw_queues(icq->q, true);
}

/* ---- merging ---- */

static struct io_cq *merger(struct request_queue *q)
{
	struct io_cq *icq;

	if (!current->io_context)
		return NULL;
	spin_lock_irq(&q->queue_lock);
	icq = ioc_lookup_icq(q);
	spin_unlock_irq(&q->queue_lock);
	return icq;
}

bool shell_bio_merge(struct request_queue *q, struct bio *bio, unsigned int segments)
{
	struct shell *shell = shell_of(q);
	struct io_cq *icq = merger(q);
	struct request *merged = NULL;
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&shell->lock, flags);
	shell->merger = icq;
	done = blk_mq_sched_try_merge(q, bio, segments, &merged);
	spin_unlock_irqrestore(&shell->lock, flags);
	if (merged)
		blk_mq_free_request(merged);
	return done;
}

/* Who waits must not wait with those who do not */
bool shell_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio)
{
	return op_is_sync(rq->cmd_flags) == op_is_sync(bio->bi_opf);
}

int shell_request_merge(struct request_queue *q, struct request **found, struct bio *bio)
{
	struct shell *shell = shell_of(q);
	struct ios_request *core = shell->core->find(shell, bio, bio_end_sector(bio));
	struct request *rq;

	if (!core)
		return ELEVATOR_NO_MERGE;
	rq = container_of(core, struct shell_record, core)->rq;
	if (!elv_bio_merge_ok(rq, bio))
		return ELEVATOR_NO_MERGE;
	*found = rq;
	return blk_discard_mergable(rq) ? ELEVATOR_DISCARD_MERGE : ELEVATOR_FRONT_MERGE;
}

static void shell_resize(struct shell *shell, struct request *rq)
{
	struct shell_record *record = shell_record(rq);

	if (record && record->core.where == IOS_QUEUED)
		shell->core->resize(shell, &record->core, blk_rq_pos(rq), blk_rq_sectors(rq));
}

void shell_request_merged(struct request_queue *q, struct request *rq, enum elv_merge type)
{
	shell_resize(shell_of(q), rq);
}

void shell_requests_merged(struct request_queue *q, struct request *rq, struct request *next)
{
	struct shell *shell = shell_of(q);
	struct shell_record *record = shell_record(rq), *other = shell_record(next);

	if (record && other && record->core.where == IOS_QUEUED && other->core.where == IOS_QUEUED)
		shell->core->absorb(shell, &record->core, &other->core);
	shell_resize(shell, rq);
	merge_forget(next);
}

static struct request *request_of(struct ios_request *core)
{
	return core ? container_of(core, struct shell_record, core)->rq : NULL;
}

struct request *shell_former_request(struct request_queue *q, struct request *rq)
{
	struct shell_record *record = shell_record(rq);

	return record && record->core.where == IOS_QUEUED ? request_of(ios_sorted_previous(&record->core)) : NULL;
}

struct request *shell_next_request(struct request_queue *q, struct request *rq)
{
	struct shell_record *record = shell_record(rq);

	return record && record->core.where == IOS_QUEUED ? request_of(ios_sorted_next(&record->core)) : NULL;
}

/* ---- tags ---- */

/* Asynchronous requests get half of the tags: a writer that fills its half does not keep a reader from asking. (Before
 * blk-mq each kind had nr_requests of its own.) The depth is that of a word of the tags' bitmap.
 */
void shell_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	if (!op_is_sync(opf))
		data->shallow_depth = shell_of(data->q)->async_depth;
}

static int shell_make_records(struct blk_mq_hw_ctx *hctx)
{
	unsigned int count = hctx->sched_tags->nr_tags;
	struct shell_records *records;

	shell_of(hctx->queue)->async_depth = max(1U, 1U << hctx->sched_tags->bitmap_tags.sb.shift >> 1);
	sbitmap_queue_min_shallow_depth(&hctx->sched_tags->bitmap_tags, 1);
	records = kvzalloc(struct_size(records, at, count), GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	records->count = count;
	kvfree(hctx->sched_data);
	hctx->sched_data = records;
	return 0;
}

int shell_init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	hctx->sched_data = NULL;
	return shell_make_records(hctx);
}

void shell_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	kvfree(hctx->sched_data);
}

/* The queue is frozen: no request uses the records. Without memory for more, requests beyond them bypass the core */
void shell_depth_updated(struct blk_mq_hw_ctx *hctx)
{
	if (shell_make_records(hctx))
		pr_warn("I/O scheduler: no memory for %u requests\n", hctx->sched_tags->nr_tags);
}

/* ---- the elevator ---- */

int shell_start(struct shell *shell, const struct shell_core *core, struct request_queue *q,
		struct elevator_type *type)
{
	struct elevator_queue *e = elevator_alloc(q, type);

	if (!e)
		return -ENOMEM;
	shell->core = core;
	shell->queue = q;
	spin_lock_init(&shell->lock);
	INIT_LIST_HEAD(&shell->bypass);
	hrtimer_init(&shell->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	shell->timer.function = shell_time_is_up;
	e->elevator_data = shell;
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);	/* one order for all hardware queues */
	q->elevator = e;
	return 0;
}

void shell_stop(struct shell *shell)
{
	hrtimer_cancel(&shell->timer);
	WARN_ON_ONCE(shell->core->queued(shell) || !list_empty(&shell->bypass));
}

/* ---- tunables ---- */

int shell_parse(const char *page, u32 lowest, u32 highest, u32 *number)
{
	int err = kstrtou32(page, 10, number);

	if (err)
		return err;
	return *number < lowest || *number > highest ? -EINVAL : 0;
}
