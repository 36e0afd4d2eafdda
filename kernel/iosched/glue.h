/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blk-mq side shared by both schedulers: it accepts requests, merges them, keeps a record of
 * each for the core, and runs the hardware queue again when the core ends an idle period.
 *
 * A scheduler embeds struct glue at the start of its own structure and calls glue_start() from its
 * init_sched(). Its file defines core_of(), which maps a glue to its core.
 */
#ifndef IOSCHED_GLUE_H
#define IOSCHED_GLUE_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "request.h"

struct glue;

/* The core. Called with the glue's lock held; `now` in ns */
struct glue_core_ops {
	void (*add)(struct glue *glue, struct ios_request *record, struct request *rq, u64 now);
	struct ios_request *(*dispatch)(struct glue *glue, u64 now);
	u64 (*wake_ns)(struct glue *glue);
	u32 (*queued)(struct glue *glue);
	void (*complete)(struct glue *glue, struct ios_request *record, u64 now);
	void (*forget)(struct glue *glue, struct ios_request *record);
	void (*resize)(struct glue *glue, struct ios_request *record, u64 sector, u32 sectors);
	void (*absorb)(struct glue *glue, struct ios_request *record, struct ios_request *other);
	void (*process_exits)(struct glue *glue, struct io_cq *icq);
	/* The queued request that begins at `sector` and may take in the bio; NULL: none */
	struct ios_request *(*find)(struct glue *glue, struct bio *bio, u64 sector);
};

struct glue {
	const struct glue_core_ops *core;
	struct request_queue *queue;
	spinlock_t lock;		/* of the core and of what follows */
	struct hrtimer timer;

	struct list_head bypass;	/* requests that bypass the core; they go first */
	bool has_bypass;
	bool has_queued;		/* the core has requests */
	bool held_back;			/* and returns none of them until an event */
	unsigned int async_depth; /* for asynchronous requests; in a word of the tags' bitmap */
	struct io_cq *merging_icq; /* of the process whose bio is being merged; NULL: unknown */
};

/* A scheduler's record of a request, in an array by tag */
struct glue_request {
	struct ios_request core;
	struct request *rq;
};

/* NULL if the core does not have the request */
static inline struct glue_request *glue_request(struct request *rq)
{
	return rq->rq_flags & IOS_RQF_PREPARED ? rq->elv.priv[0] : NULL;
}

static inline struct glue *glue_of(struct request_queue *q)
{
	return q->elevator->elevator_data;
}

/*
 * Makes `glue` the elevator of `q`; 0 or -ENOMEM. It starts memory of kzalloc(), which
 * glue_exit_sched() frees; on failure it is freed already.
 */
int glue_start(struct glue *glue, const struct glue_core_ops *core, struct request_queue *q,
	       struct elevator_type *type);

/* The elevator operations for blk-mq */
void glue_exit_sched(struct elevator_queue *e);
int glue_init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index);
void glue_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index);
void glue_depth_updated(struct blk_mq_hw_ctx *hctx);
void glue_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data);
void glue_prepare_request(struct request *rq);
void glue_finish_request(struct request *rq);
void glue_requeue_request(struct request *rq);
void glue_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list,
			  ios_insert_flags flags);
struct request *glue_dispatch_request(struct blk_mq_hw_ctx *hctx);
bool glue_has_work(struct blk_mq_hw_ctx *hctx);
void glue_completed_request(struct request *rq, u64 now);
bool glue_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio);
bool glue_bio_merge(struct request_queue *q, struct bio *bio, unsigned int segments);
int glue_request_merge(struct request_queue *q, struct request **rq, struct bio *bio);
void glue_request_merged(struct request_queue *q, struct request *rq, enum elv_merge type);
void glue_requests_merged(struct request_queue *q, struct request *rq, struct request *next);
struct request *glue_former_request(struct request_queue *q, struct request *rq);
struct request *glue_next_request(struct request_queue *q, struct request *rq);
void glue_exit_icq(struct io_cq *icq);

#define GLUE_OPERATIONS \
	.exit_sched = glue_exit_sched, \
	.init_hctx = glue_init_hctx, \
	.exit_hctx = glue_exit_hctx, \
	.depth_updated = glue_depth_updated, \
	.limit_depth = glue_limit_depth, \
	.prepare_request = glue_prepare_request, \
	.finish_request = glue_finish_request, \
	.requeue_request = glue_requeue_request, \
	.insert_requests = glue_insert_requests, \
	.dispatch_request = glue_dispatch_request, \
	.has_work = glue_has_work, \
	.completed_request = glue_completed_request, \
	.bio_merge = glue_bio_merge, \
	.request_merge = glue_request_merge, \
	.request_merged = glue_request_merged, \
	.requests_merged = glue_requests_merged, \
	.former_request = glue_former_request, \
	.next_request = glue_next_request, \
	.exit_icq = glue_exit_icq

/*
 * Defines name_core_ops, a struct glue_core_ops, from the core's functions that begin with `name`.
 * The file that uses it defines core_add(), core_find(), and process_of(), which maps an io_cq to
 * the core's process.
 */
#define GLUE_CORE_OPS(name)                                                                \
	static struct ios_request *core_dispatch(struct glue *glue, u64 now)               \
	{                                                                                  \
		return name##_dispatch(core_of(glue), now);                                \
	}                                                                                  \
	static u64 core_wake_ns(struct glue *glue)                                         \
	{                                                                                  \
		return name##_wake_ns(core_of(glue));                                      \
	}                                                                                  \
	static u32 core_queued(struct glue *glue)                                          \
	{                                                                                  \
		return name##_queued(core_of(glue));                                       \
	}                                                                                  \
	static void core_complete(struct glue *glue, struct ios_request *record, u64 now)  \
	{                                                                                  \
		name##_complete(core_of(glue), record, now);                               \
	}                                                                                  \
	static void core_forget(struct glue *glue, struct ios_request *record)             \
	{                                                                                  \
		name##_forget(core_of(glue), record);                                      \
	}                                                                                  \
	static void core_resize(struct glue *glue, struct ios_request *record, u64 sector, \
				u32 sectors)                                               \
	{                                                                                  \
		name##_resize(core_of(glue), record, sector, sectors);                     \
	}                                                                                  \
	static void core_absorb(struct glue *glue, struct ios_request *record,             \
				struct ios_request *other)                                 \
	{                                                                                  \
		name##_absorb(core_of(glue), record, other);                               \
	}                                                                                  \
	static void core_process_exits(struct glue *glue, struct io_cq *icq)               \
	{                                                                                  \
		name##_process_exits(core_of(glue), process_of(glue, icq));                \
	}                                                                                  \
	static const struct glue_core_ops name##_core_ops = {                              \
		.add = core_add,                                                           \
		.dispatch = core_dispatch,                                                 \
		.wake_ns = core_wake_ns,                                                   \
		.queued = core_queued,                                                     \
		.complete = core_complete,                                                 \
		.forget = core_forget,                                                     \
		.resize = core_resize,                                                     \
		.absorb = core_absorb,                                                     \
		.process_exits = core_process_exits,                                       \
		.find = core_find,                                                         \
	}

/* Parses a tunable: a whole number from `lowest` to `highest`; 0, -EINVAL or -ERANGE */
int glue_parse_tunable(const char *page, u32 lowest, u32 highest, u32 *number);

/*
 * Defines the functions of the tunable `name`, which is the core's `field` in multiples of `unit`.
 */
#define GLUE_TUNABLE(name, field, unit, lowest, highest) \
	static ssize_t name##_show(struct elevator_queue *e, char *page) \
	{ \
		return sysfs_emit(page, "%llu\n", \
				  div64_u64(core_of(e->elevator_data)->tunables.field, unit)); \
	} \
	static ssize_t name##_store(struct elevator_queue *e, const char *page, size_t count) \
	{ \
		struct glue *glue = e->elevator_data; \
		u32 number; \
		int err = glue_parse_tunable(page, lowest, highest, &number); \
		if (err) \
			return err; \
		spin_lock_irq(&glue->lock); \
		core_of(glue)->tunables.field = number * (u64)(unit); \
		spin_unlock_irq(&glue->lock); \
		return count; \
	}

/* The largest time of a tunable: keeps products of two of them within 64 bits */
#define TUNABLE_MS_MAX	60000

#endif
