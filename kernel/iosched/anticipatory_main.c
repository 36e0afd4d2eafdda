// SPDX-License-Identifier: GPL-2.0-only
/*
 * anticipatory.ko: the anticipatory scheduler for blk-mq. Its rules are in core/; this file joins them to the shell, to
 * the kernel's record of a process, and to sysfs.
 */
#include <linux/device/driver.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "as.h"
#include "shell.h"

struct anticipatory {
	struct shell shell;
	struct as_scheduler core;
	struct as_process nobody;	/* sends what comes from a process whose record there was no memory for */
};

/* A process's record for this queue */
struct anticipatory_icq {
	struct io_cq icq;
	struct as_process process;
};

static struct as_scheduler *core_of(struct shell *shell)
{
	return &container_of(shell, struct anticipatory, shell)->core;
}

static struct as_process *process_of(struct io_cq *icq)
{
	return &container_of(icq, struct anticipatory_icq, icq)->process;
}

static void core_add(struct shell *shell, struct ios_request *record, struct request *rq, u64 now)
{
	struct anticipatory *anticipatory = container_of(shell, struct anticipatory, shell);

	as_add(core_of(shell), record, rq->elv.icq ? process_of(rq->elv.icq) : &anticipatory->nobody, now);
}

static struct ios_request *core_dispatch(struct shell *shell, u64 now)
{
	return as_dispatch(core_of(shell), now);
}

static u64 core_wake_ns(const struct shell *shell)
{
	return as_wake_ns(core_of((struct shell *)shell));
}

static u32 core_queued(const struct shell *shell)
{
	return as_queued(core_of((struct shell *)shell));
}

static void core_complete(struct shell *shell, struct ios_request *record, u64 now)
{
	as_complete(core_of(shell), record, now);
}

static void core_forget(struct shell *shell, struct ios_request *record)
{
	as_forget(core_of(shell), record);
}

static void core_resize(struct shell *shell, struct ios_request *record, u64 sector, u32 sectors)
{
	as_resize(core_of(shell), record, sector, sectors);
}

static void core_absorb(struct shell *shell, struct ios_request *record, struct ios_request *other)
{
	as_absorb(core_of(shell), record, other);
}

static void core_process_exits(struct shell *shell, struct io_cq *icq)
{
	as_process_exits(core_of(shell), process_of(icq));
}

static struct ios_request *core_find(struct shell *shell, struct bio *bio, u64 sector)
{
	return ios_sorted_at(&core_of(shell)->queues[op_is_sync(bio->bi_opf) ? AS_READ : AS_WRITE].sorted, sector);
}

static const struct shell_core anticipatory_core = {
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

static int anticipatory_init_sched(struct request_queue *q, struct elevator_type *type)
{
	struct anticipatory *anticipatory = kzalloc_node(sizeof(*anticipatory), GFP_KERNEL, q->node);
	struct as_tunables tunables;
	int err;

	if (!anticipatory)
		return -ENOMEM;
	as_default_tunables(&tunables);
	as_init(&anticipatory->core, &tunables);
	err = shell_start(&anticipatory->shell, &anticipatory_core, q, type);
	if (err)
		kfree(anticipatory);
	return err;
}

static void anticipatory_exit_sched(struct elevator_queue *e)
{
	struct shell *shell = e->elevator_data;

	shell_stop(shell);
	kfree(container_of(shell, struct anticipatory, shell));
}

#define MS_TUNABLE(name, field)	SHELL_TUNABLE(name, field, NSEC_PER_MSEC, 0, SHELL_MS_MAX)

MS_TUNABLE(read_expire, expire_ns[AS_READ])
MS_TUNABLE(write_expire, expire_ns[AS_WRITE])
MS_TUNABLE(read_batch_expire, batch_expire_ns[AS_READ])
MS_TUNABLE(write_batch_expire, batch_expire_ns[AS_WRITE])
MS_TUNABLE(antic_expire, antic_expire_ns)

/* What has been learned of processes; to be read by people */
static ssize_t est_time_show(struct elevator_queue *e, char *page)
{
	struct shell *shell = e->elevator_data;
	struct as_scheduler core;
	u64 seek = 0;

	spin_lock_irq(&shell->lock);
	core = *core_of(shell);
	if (core.last)
		seek = ios_mean_value(&core.last->seek_sectors);
	spin_unlock_irq(&shell->lock);
	return sysfs_emit(page, "%llu %% of exits without a close read after them\n%llu us mean think time\n"
			  "%llu sectors mean seek of the process waited for\n",
			  div64_u64(ios_mean_value(&core.exits_alone) * 100, 256),
			  div64_u64(ios_mean_value(&core.think_ns), NSEC_PER_USEC), seek);
}

static struct elv_fs_entry anticipatory_attributes[] = {
	__ATTR_RW(read_expire),
	__ATTR_RW(write_expire),
	__ATTR_RW(read_batch_expire),
	__ATTR_RW(write_batch_expire),
	__ATTR_RW(antic_expire),
	__ATTR_RO(est_time),
	{ }
};

static struct elevator_type anticipatory_type = {
	.ops = {
		SHELL_OPERATIONS,
		.init_sched = anticipatory_init_sched,
		.exit_sched = anticipatory_exit_sched,
		.allow_merge = shell_allow_merge,
	},
	.icq_size = sizeof(struct anticipatory_icq),
	.icq_align = __alignof__(struct anticipatory_icq),
	.elevator_attrs = anticipatory_attributes,
	.elevator_name = "anticipatory",
	.elevator_owner = THIS_MODULE,
};

module_driver(anticipatory_type, elv_register, elv_unregister);

MODULE_DESCRIPTION("Anticipatory I/O scheduler for blk-mq");
MODULE_LICENSE("GPL");
