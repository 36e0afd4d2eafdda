/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blk-mq side of a scheduler, for both schedulers alike: it takes requests in, merges them, keeps a record of each
 * for the core, and runs the hardware queue again when the core has let it stand idle long enough.
 *
 * A scheduler embeds struct shell at the start of its own structure and calls shell_start() from its init_sched().
 */
#ifndef IOSCHED_SHELL_H
#define IOSCHED_SHELL_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "request.h"

struct shell;

/* The core. Called with the shell's lock held; `now` in ns */
struct shell_core {
	void (*add)(struct shell *shell, struct ios_request *record, struct request *rq, u64 now);
	struct ios_request *(*dispatch)(struct shell *shell, u64 now);
	u64 (*wake_ns)(const struct shell *shell);
	u32 (*queued)(const struct shell *shell);
	void (*complete)(struct shell *shell, struct ios_request *record, u64 now);
	void (*forget)(struct shell *shell, struct ios_request *record);
	void (*resize)(struct shell *shell, struct ios_request *record, u64 sector, u32 sectors);
	void (*absorb)(struct shell *shell, struct ios_request *record, struct ios_request *other);
	void (*process_exits)(struct shell *shell, struct io_cq *icq);
	/* The queued request that begins at `sector` and may take in the bio; NULL: none */
	struct ios_request *(*find)(struct shell *shell, struct bio *bio, u64 sector);
};

struct shell {
	const struct shell_core *core;
	struct request_queue *queue;
	spinlock_t lock;
	struct hrtimer timer;

	struct list_head bypass;	/* requests that are not for the core; they go first */
	bool has_bypass;
	bool has_queued;		/* the core has requests */
	bool held_back;			/* and gives none of them until something happens */
	unsigned int async_depth;	/* of a word of the tags' bitmap, for asynchronous requests */
	struct io_cq *merger;		/* of the process whose bio is being merged; NULL: not known */
};

/* A scheduler's record of a request, in an array by tag */
struct shell_record {
	struct ios_request core;
	struct request *rq;
};

/* NULL if the request is not one of the core's */
static inline struct shell_record *shell_record(struct request *rq)
{
	return rq->rq_flags & IOS_RQF_PREPARED ? rq->elv.priv[0] : NULL;
}

static inline struct shell *shell_of(struct request_queue *q)
{
	return q->elevator->elevator_data;
}

/* Makes `shell` the elevator of `q` */
int shell_start(struct shell *shell, const struct shell_core *core, struct request_queue *q,
		struct elevator_type *type);
void shell_stop(struct shell *shell);

/* The rest are the elevator's operations as blk-mq wants them */
int shell_init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index);
void shell_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index);
void shell_depth_updated(struct blk_mq_hw_ctx *hctx);
void shell_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data);
void shell_prepare_request(struct request *rq);
void shell_finish_request(struct request *rq);
void shell_requeue_request(struct request *rq);
void shell_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list, ios_insert_flags flags);
struct request *shell_dispatch_request(struct blk_mq_hw_ctx *hctx);
bool shell_has_work(struct blk_mq_hw_ctx *hctx);
void shell_completed_request(struct request *rq, u64 now);
bool shell_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio);
bool shell_bio_merge(struct request_queue *q, struct bio *bio, unsigned int segments);
int shell_request_merge(struct request_queue *q, struct request **rq, struct bio *bio);
void shell_request_merged(struct request_queue *q, struct request *rq, enum elv_merge type);
void shell_requests_merged(struct request_queue *q, struct request *rq, struct request *next);
struct request *shell_former_request(struct request_queue *q, struct request *rq);
struct request *shell_next_request(struct request_queue *q, struct request *rq);
void shell_exit_icq(struct io_cq *icq);

#define SHELL_OPERATIONS \
	.init_hctx = shell_init_hctx, \
	.exit_hctx = shell_exit_hctx, \
	.depth_updated = shell_depth_updated, \
	.limit_depth = shell_limit_depth, \
	.prepare_request = shell_prepare_request, \
	.finish_request = shell_finish_request, \
	.requeue_request = shell_requeue_request, \
	.insert_requests = shell_insert_requests, \
	.dispatch_request = shell_dispatch_request, \
	.has_work = shell_has_work, \
	.completed_request = shell_completed_request, \
	.bio_merge = shell_bio_merge, \
	.request_merge = shell_request_merge, \
	.request_merged = shell_request_merged, \
	.requests_merged = shell_requests_merged, \
	.former_request = shell_former_request, \
	.next_request = shell_next_request, \
	.exit_icq = shell_exit_icq

/* A tunable in sysfs is a whole number, from `lowest` to `highest`; 0, -EINVAL or -ERANGE */
int shell_parse(const char *page, u32 lowest, u32 highest, u32 *number);

/*
 * The functions of the tunable `name`, of whose `unit`s the core's `field` holds so many. The file that uses it has a
 * core_of().
 */
#define SHELL_TUNABLE(name, field, unit, lowest, highest) \
	static ssize_t name##_show(struct elevator_queue *e, char *page) \
	{ \
		return sysfs_emit(page, "%llu\n", \
				  div64_u64(core_of(e->elevator_data)->tunables.field, unit)); \
	} \
	static ssize_t name##_store(struct elevator_queue *e, const char *page, size_t count) \
	{ \
		struct shell *shell = e->elevator_data; \
		u32 number; \
		int err = shell_parse(page, lowest, highest, &number); \
		if (err) \
			return err; \
		spin_lock_irq(&shell->lock); \
		core_of(shell)->tunables.field = number * (u64)(unit); \
		spin_unlock_irq(&shell->lock); \
		return count; \
	}

/* Longest time that a tunable takes: keeps products of two of them within 64 bits */
#define SHELL_MS_MAX	60000

#endif
