// SPDX-License-Identifier: GPL-2.0-only
/*
 * cfq.ko: completely fair queueing for blk-mq. Its rules are in core/; this file joins them to the
 * blk-mq glue, to the kernel's record of a process and its priority, and to sysfs.
 */
#include <linux/device/driver.h>
#include <linux/ioprio.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "cfq.h"
#include "glue.h"

struct cfq {
	struct glue glue;
	struct cfq_scheduler core;
	struct cfq_queue oom_queue;	/* for processes without a record, for lack of memory */
};

static_assert(!offsetof(struct cfq, glue));	/* glue_exit_sched() frees it by that */

/* A process's record for this queue */
struct cfq_icq {
	struct io_cq icq;
	struct cfq_queue queue;
};

static struct cfq_scheduler *core_of(struct glue *glue)
{
	return &container_of(glue, struct cfq, glue)->core;
}

static struct cfq_queue *process_of(struct glue *glue, struct io_cq *icq)
{
	return icq ? &container_of(icq, struct cfq_icq, icq)->queue :
		     &container_of(glue, struct cfq, glue)->oom_queue;
}

/* blk-mq gives each bio the priority of its process, derived from `nice` if none was set */
static struct cfq_priority priority_of(unsigned short ioprio)
{
	u32 level = IOPRIO_PRIO_DATA(ioprio) < CFQ_LEVELS ? IOPRIO_PRIO_DATA(ioprio) :
							    CFQ_LEVELS - 1;

	switch (IOPRIO_PRIO_CLASS(ioprio)) {
	case IOPRIO_CLASS_RT:
		return (struct cfq_priority) { CFQ_RT, level };
	case IOPRIO_CLASS_BE:
		return (struct cfq_priority) { CFQ_BE, level };
	case IOPRIO_CLASS_IDLE:
		return (struct cfq_priority) { CFQ_IDLE, CFQ_LEVELS - 1 };
	default:
		return (struct cfq_priority) { CFQ_BE, CFQ_NORMAL };
	}
}

static void core_add(struct glue *glue, struct ios_request *record, struct request *rq, u64 now)
{
	cfq_add(core_of(glue), record, process_of(glue, rq->elv.icq),
		priority_of(req_get_ioprio(rq)), now);
}

static struct cfq_queue *queue_for(struct glue *glue, struct bio *bio)
{
	return cfq_queue_for(core_of(glue), op_is_sync(bio->bi_opf),
			     process_of(glue, glue->merging_icq), priority_of(bio_prio(bio)));
}

static struct ios_request *core_find(struct glue *glue, struct bio *bio, u64 sector)
{
	return ios_sorted_at(&queue_for(glue, bio)->sorted, sector);
}

GLUE_CORE_OPS(cfq);

/* A process's bio waits in its own queue, or merging adjacent files would break fairness */
static bool cfq_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio)
{
	struct glue_request *record = glue_request(rq);

	return glue_allow_merge(q, rq, bio) && record &&
	       record->core.owner == queue_for(glue_of(q), bio);
}

static void cfq_init_icq(struct io_cq *icq)
{
	cfq_queue_init(&container_of(icq, struct cfq_icq, icq)->queue, true);
}

static int cfq_init_sched(struct request_queue *q, struct elevator_type *type)
{
	struct cfq *cfq = kzalloc_node(sizeof(*cfq), GFP_KERNEL, q->node);
	struct cfq_tunables tunables;

	if (!cfq)
		return -ENOMEM;
	cfq_default_tunables(&tunables);
	cfq_init(&cfq->core, &tunables, ktime_get_ns());
	cfq->core.cheap_seeks = blk_queue_nonrot(q);
	cfq_queue_init(&cfq->oom_queue, true);
	return glue_start(&cfq->glue, &cfq_core_ops, q, type);
}

GLUE_TUNABLE(quantum, quantum, 1, 1, U16_MAX)
GLUE_TUNABLE(fifo_expire_sync, fifo_expire_sync_ns, NSEC_PER_MSEC, 1, TUNABLE_MS_MAX)
GLUE_TUNABLE(fifo_expire_async, fifo_expire_async_ns, NSEC_PER_MSEC, 1, TUNABLE_MS_MAX)
GLUE_TUNABLE(back_seek_max, sweep.back_max, SZ_1K >> SECTOR_SHIFT, 0, U32_MAX)
GLUE_TUNABLE(back_seek_penalty, sweep.back_penalty, 1, 1, U16_MAX)
GLUE_TUNABLE(slice_sync, slice_sync_ns, NSEC_PER_MSEC, 1, TUNABLE_MS_MAX)
GLUE_TUNABLE(slice_async, slice_async_ns, NSEC_PER_MSEC, 1, TUNABLE_MS_MAX)
GLUE_TUNABLE(slice_async_rq, slice_async_rq, 1, 1, U16_MAX)
GLUE_TUNABLE(slice_idle, slice_idle_ns, NSEC_PER_MSEC, 0, TUNABLE_MS_MAX)
GLUE_TUNABLE(group_idle, group_idle_ns, NSEC_PER_MSEC, 0, TUNABLE_MS_MAX)
GLUE_TUNABLE(low_latency, low_latency, 1, 0, 1)
GLUE_TUNABLE(target_latency, target_latency_ns, NSEC_PER_MSEC, 1, TUNABLE_MS_MAX)

static struct elv_fs_entry cfq_attributes[] = {
	__ATTR_RW(quantum),
	__ATTR_RW(fifo_expire_sync),
	__ATTR_RW(fifo_expire_async),
	__ATTR_RW(back_seek_max),
	__ATTR_RW(back_seek_penalty),
	__ATTR_RW(slice_sync),
	__ATTR_RW(slice_async),
	__ATTR_RW(slice_async_rq),
	__ATTR_RW(slice_idle),
	__ATTR_RW(group_idle),
	__ATTR_RW(low_latency),
	__ATTR_RW(target_latency),
	{ }
};

static struct elevator_type cfq_type = {
	.ops = {
		GLUE_OPERATIONS,
		.init_sched = cfq_init_sched,
		.allow_merge = cfq_allow_merge,
		.init_icq = cfq_init_icq,
	},
	.icq_size = sizeof(struct cfq_icq),
	.icq_align = __alignof__(struct cfq_icq),
	.elevator_attrs = cfq_attributes,
	.elevator_name = "cfq",
	.elevator_owner = THIS_MODULE,
};

module_driver(cfq_type, elv_register, elv_unregister);

MODULE_DESCRIPTION("CFQ I/O scheduler for blk-mq");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
