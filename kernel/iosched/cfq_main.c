// SPDX-License-Identifier: GPL-2.0-only
/*
 * cfq.ko: completely fair queueing for blk-mq. Its rules are in core/; this file joins them to the shell, to the
 * kernel's record of a process and its priority, and to sysfs.
 */
#include <linux/device/driver.h>
#include <linux/ioprio.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "cfq.h"
#include "shell.h"

struct cfq {
	struct shell shell;
	struct cfq_scheduler core;
	struct cfq_queue nobody;	/* of processes whose record there was no memory for */
};

/* A process's record for this queue */
struct cfq_icq {
	struct io_cq icq;
	struct cfq_queue queue;
};

static struct cfq_scheduler *core_of(struct shell *shell)
{
	return &container_of(shell, struct cfq, shell)->core;
}

static struct cfq_queue *queue_of(struct shell *shell, struct io_cq *icq)
{
	return icq ? &container_of(icq, struct cfq_icq, icq)->queue : &container_of(shell, struct cfq, shell)->nobody;
}

/* blk-mq gives each bio the priority of its process, derived from `nice` where none was set */
static struct cfq_priority priority_of(unsigned short ioprio)
{
	u32 level = IOPRIO_PRIO_DATA(ioprio) < CFQ_LEVELS ? IOPRIO_PRIO_DATA(ioprio) : CFQ_LEVELS - 1;

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

static void core_add(struct shell *shell, struct ios_request *record, struct request *rq, u64 now)
{
	cfq_add(core_of(shell), record, queue_of(shell, rq->elv.icq), priority_of(req_get_ioprio(rq)), now);
}

static struct ios_request *core_dispatch(struct shell *shell, u64 now)
{
	return cfq_dispatch(core_of(shell), now);
}

static u64 core_wake_ns(const struct shell *shell)
{
	return cfq_wake_ns(core_of((struct shell *)shell));
}

static u32 core_queued(const struct shell *shell)
{
	return core_of((struct shell *)shell)->queued;
}

static void core_complete(struct shell *shell, struct ios_request *record, u64 now)
{
	cfq_complete(core_of(shell), record, now);
}

static void core_forget(struct shell *shell, struct ios_request *record)
{
	cfq_forget(core_of(shell), record);
}

static void core_resize(struct shell *shell, struct ios_request *record, u64 sector, u32 sectors)
{
	cfq_resize(core_of(shell), record, sector, sectors);
}

static void core_absorb(struct shell *shell, struct ios_request *record, struct ios_request *other)
{
	cfq_absorb(core_of(shell), record, other);
}

static void core_process_exits(struct shell *shell, struct io_cq *icq)
{
	cfq_process_exits(core_of(shell), queue_of(shell, icq));
}

static struct cfq_queue *queue_for(struct shell *shell, struct bio *bio)
{
	return cfq_queue_for(core_of(shell), op_is_sync(bio->bi_opf), queue_of(shell, shell->merger),
			     priority_of(bio_prio(bio)));
}

static struct ios_request *core_find(struct shell *shell, struct bio *bio, u64 sector)
{
	return ios_sorted_at(&queue_for(shell, bio)->sorted, sector);
}

static const struct shell_core cfq_core = {
	.add = core_add,
	.dispatch = core_dispatch,
	.wake_ns = core_wake_ns,
	.queued = core_queued,
	.complete = core_complete,
	.forget = core_forget,
	.resize = core_resize,
	.absorb = core_absorb,
	.process_exits = core_process_exits,
	.find = core_find,
};

/* A process's bio waits in its own queue, or fairness would end where files touch */
static bool cfq_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio)
{
	struct shell_record *record = shell_record(rq);

	return shell_allow_merge(q, rq, bio) && record && record->core.owner == queue_for(shell_of(q), bio);
}

static void cfq_init_icq(struct io_cq *icq)
{
	cfq_queue_init(&container_of(icq, struct cfq_icq, icq)->queue, true);
}

static int cfq_init_sched(struct request_queue *q, struct elevator_type *type)
{
	struct cfq *cfq = kzalloc_node(sizeof(*cfq), GFP_KERNEL, q->node);
	struct cfq_tunables tunables;
	int err;

	if (!cfq)
		return -ENOMEM;
	cfq_default_tunables(&tunables);
	cfq_init(&cfq->core, &tunables, ktime_get_ns());
	cfq->core.cheap_seeks = blk_queue_nonrot(q);
	cfq_queue_init(&cfq->nobody, true);
	err = shell_start(&cfq->shell, &cfq_core, q, type);
	if (err)
		kfree(cfq);
	return err;
}

static void cfq_exit_sched(struct elevator_queue *e)
{
	struct shell *shell = e->elevator_data;

	shell_stop(shell);
	kfree(container_of(shell, struct cfq, shell));
}

SHELL_TUNABLE(quantum, quantum, 1, 1, U16_MAX)
SHELL_TUNABLE(fifo_expire_sync, fifo_expire_sync_ns, NSEC_PER_MSEC, 1, SHELL_MS_MAX)
SHELL_TUNABLE(fifo_expire_async, fifo_expire_async_ns, NSEC_PER_MSEC, 1, SHELL_MS_MAX)
SHELL_TUNABLE(back_seek_max, sweep.back_max, SZ_1K >> SECTOR_SHIFT, 0, U32_MAX)
SHELL_TUNABLE(back_seek_penalty, sweep.back_penalty, 1, 1, U16_MAX)
SHELL_TUNABLE(slice_sync, slice_sync_ns, NSEC_PER_MSEC, 1, SHELL_MS_MAX)
SHELL_TUNABLE(slice_async, slice_async_ns, NSEC_PER_MSEC, 1, SHELL_MS_MAX)
SHELL_TUNABLE(slice_async_rq, slice_async_rq, 1, 1, U16_MAX)
SHELL_TUNABLE(slice_idle, slice_idle_ns, NSEC_PER_MSEC, 0, SHELL_MS_MAX)
SHELL_TUNABLE(group_idle, group_idle_ns, NSEC_PER_MSEC, 0, SHELL_MS_MAX)
SHELL_TUNABLE(low_latency, low_latency, 1, 0, 1)
SHELL_TUNABLE(target_latency, target_latency_ns, NSEC_PER_MSEC, 1, SHELL_MS_MAX)

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
		SHELL_OPERATIONS,
		.init_sched = cfq_init_sched,
		.exit_sched = cfq_exit_sched,
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
MODULE_LICENSE("GPL");
