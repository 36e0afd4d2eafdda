// SPDX-License-Identifier: GPL-2.0-only
/*
 * anticipatory.ko: the anticipatory scheduler for blk-mq. Its rules are in core/; this file joins
 * them to the blk-mq glue, to the kernel's record of a process, and to sysfs.
 */
#include <linux/device/driver.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "as.h"
#include "glue.h"

struct anticipatory {
	struct glue glue;
	struct as_scheduler core;
	/* for requests of processes without a record, for lack of memory */
	struct as_process oom_process;
};

static_assert(!offsetof(struct anticipatory, glue));	/* glue_exit_sched() frees it by that */

/* A process's record for this queue */
struct anticipatory_icq {
	struct io_cq icq;
	struct as_process process;
};

static struct as_scheduler *core_of(struct glue *glue)
{
	return &container_of(glue, struct anticipatory, glue)->core;
}

static struct as_process *process_of(struct glue *glue, struct io_cq *icq)
{
	return icq ? &container_of(icq, struct anticipatory_icq, icq)->process :
		     &container_of(glue, struct anticipatory, glue)->oom_process;
}

static void core_add(struct glue *glue, struct ios_request *record, struct request *rq, u64 now)
{
	as_add(core_of(glue), record, process_of(glue, rq->elv.icq), now);
}

static struct ios_request *core_find(struct glue *glue, struct bio *bio, u64 sector)
{
	struct as_scheduler *as = core_of(glue);
	int class = op_is_sync(bio->bi_opf) ? AS_READ : AS_WRITE;

	return ios_sorted_at(&as->queues[class].sorted, sector);
}

GLUE_CORE_OPS(as);

static int anticipatory_init_sched(struct request_queue *q, struct elevator_type *type)
{
	struct anticipatory *anticipatory =
		kzalloc_node(sizeof(*anticipatory), GFP_KERNEL, q->node);
	struct as_tunables tunables;

	if (!anticipatory)
		return -ENOMEM;
	as_default_tunables(&tunables);
	as_init(&anticipatory->core, &tunables);
	return glue_start(&anticipatory->glue, &as_core_ops, q, type);
}

#define MS_TUNABLE(name, field)	GLUE_TUNABLE(name, field, NSEC_PER_MSEC, 0, TUNABLE_MS_MAX)

MS_TUNABLE(read_expire, expire_ns[AS_READ])
MS_TUNABLE(write_expire, expire_ns[AS_WRITE])
MS_TUNABLE(read_batch_expire, batch_expire_ns[AS_READ])
MS_TUNABLE(write_batch_expire, batch_expire_ns[AS_WRITE])
MS_TUNABLE(antic_expire, antic_expire_ns)

/* The statistics of processes, for people */
static ssize_t est_time_show(struct elevator_queue *e, char *page)
{
	struct glue *glue = e->elevator_data;
	struct as_scheduler core;
	u64 seek = 0;

	spin_lock_irq(&glue->lock);
	core = *core_of(glue);
	if (core.last)
		seek = ios_mean_value(&core.last->seek_sectors);
	spin_unlock_irq(&glue->lock);
	return sysfs_emit(page,
			  "%llu %% of exits without a close read after them\n%llu us mean think time\n"
			  "%llu sectors mean seek of the process waited for\n",
			  div64_u64(ios_mean_value(&core.exit_no_coop) * 100, 256),
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
		GLUE_OPERATIONS,
		.init_sched = anticipatory_init_sched,
		.allow_merge = glue_allow_merge,
	},
	.icq_size = sizeof(struct anticipatory_icq),
	.icq_align = __alignof__(struct anticipatory_icq),
	.elevator_attrs = anticipatory_attributes,
	.elevator_name = "anticipatory",
	.elevator_owner = THIS_MODULE,
};

module_driver(anticipatory_type, elv_register, elv_unregister);

MODULE_DESCRIPTION("Anticipatory I/O scheduler for blk-mq");
MODULE_AUTHOR("The flashbed authors");
MODULE_LICENSE("GPL");
