/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks of an F2FS direct read, by the mount option direct_lock:
 *
 *	none		nothing of the inode, as Linux does since 5.7
 *	submission	the inode alone, while blocks are looked up and the request is handed to the
 *			device: what DIO_LOCKING of do_blockdev_direct_IO() did, which F2FS asked
 *			for until 5.6. What is in the page cache is written back under the lock
 *	completion	the same, and until the device has answered
 *	range		the bytes of the request, together with other reads, until the device has
 *			answered. A direct write of bytes that have blocks locks them alone, and
 *			the inode together with other such writes; any other write locks the inode
 *			alone, as it does without this
 *	percpu		nothing of the inode, and i_gc_rwsem so that readers share no cache line:
 *			each counts itself on its CPU
 *
 * i_gc_rwsem is taken before all of these, as before. It keeps garbage collection from moving
 * blocks that are being read; only garbage collection takes it for writing.
 *
 * A range waits for earlier ranges that overlap it, unless both are reads. It counts them on
 * arrival, and a leaving range decrements the counts of later ones. So no range overtakes another,
 * and none is woken in vain.
 */
#ifndef F2FS_DIRECT_LOCK_H
#define F2FS_DIRECT_LOCK_H

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/interval_tree_generic.h>
#include <linux/percpu.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

enum direct_lock {
	DIRECT_LOCK_NONE,
	DIRECT_LOCK_SUBMISSION,
	DIRECT_LOCK_COMPLETION,
	DIRECT_LOCK_RANGE,
	DIRECT_LOCK_PERCPU,
	DIRECT_LOCKS
};

static const char *const direct_lock_names[DIRECT_LOCKS] = {
	"none", "submission", "completion", "range", "percpu"
};

struct direct_ranges {
	spinlock_t lock;		/* protects everything here, and the ranges in the tree */
	struct rb_root_cached root;
	u64 came;
};

struct direct_range {
	struct rb_node node;
	u64 first, last, subtree_last;	/* bytes of the file */
	u64 number;			/* in the order of arrival */
	bool alone;
	unsigned int before;		/* the ranges that it waits for */
	struct task_struct *task;
};

static inline void direct_ranges_init(struct direct_ranges *ranges)
{
	spin_lock_init(&ranges->lock);
	ranges->root = RB_ROOT_CACHED;
	ranges->came = 0;
}

#define DIRECT_RANGE_FIRST(range) ((range)->first)
#define DIRECT_RANGE_LAST(range) ((range)->last)
INTERVAL_TREE_DEFINE(struct direct_range, node, u64, subtree_last, DIRECT_RANGE_FIRST,
		     DIRECT_RANGE_LAST, static inline __maybe_unused, direct_tree)

static inline void direct_range_lock(struct direct_ranges *ranges, struct direct_range *mine,
				     loff_t first, size_t count, bool alone)
{
	struct direct_range *one;

	mine->first = first;
	mine->last = first + count - 1;
	mine->alone = alone;
	mine->before = 0;
	mine->task = current;
	spin_lock(&ranges->lock);
	mine->number = ranges->came++;
	for (one = direct_tree_iter_first(&ranges->root, mine->first, mine->last); one;
	     one = direct_tree_iter_next(one, mine->first, mine->last))
		mine->before += alone || one->alone;
	direct_tree_insert(mine, &ranges->root);
	spin_unlock(&ranges->lock);
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (!READ_ONCE(mine->before))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	smp_mb(); /* orders earlier holders before the work under the lock */
}

static inline void direct_range_unlock(struct direct_ranges *ranges, struct direct_range *mine)
{
	struct direct_range *one;

	spin_lock(&ranges->lock);
	direct_tree_remove(mine, &ranges->root);
	for (one = direct_tree_iter_first(&ranges->root, mine->first, mine->last); one;
	     one = direct_tree_iter_next(one, mine->first, mine->last)) {
		if (one->number < mine->number || !(one->alone || mine->alone))
			continue;
		if (one->before == 1) {
			/*
			 * The range is on its task's stack, and is gone once the task sees 0. The
			 * task itself stays while the lock is held, because it takes the lock to
			 * leave.
			 */
			struct task_struct *task = one->task;

			WRITE_ONCE(one->before, 0);
			wake_up_process(task);
		} else {
			WRITE_ONCE(one->before, one->before - 1);
		}
	}
	spin_unlock(&ranges->lock);
}

/*
 * The readers of a rwsem, counted on the CPU on which each enters or leaves. An exclusive user
 * takes the rwsem, sets `alone`, and succeeds if there is no reader. It only tries, as garbage
 * collection does: a reader may wait for pages whose write-back the collector has not submitted
 * yet, so the collector must not wait for readers.
 */
struct direct_readers {
	unsigned int __percpu *in;
	bool alone;
};

/* NULL if there is no memory. */
static inline struct direct_readers *direct_readers_new(void)
{
	struct direct_readers *readers = kzalloc(sizeof(*readers), GFP_NOFS);

	if (!readers)
		return NULL;
	readers->in = alloc_percpu_gfp(unsigned int, GFP_NOFS);
	if (!readers->in) {
		kfree(readers);
		return NULL;
	}
	return readers;
}

static inline void direct_readers_free(struct direct_readers *readers)
{
	if (!readers)
		return;
	free_percpu(readers->in);
	kfree(readers);
}

/*
 * False while there is an exclusive user. Counting and checking happen on one CPU, so that no sum
 * includes an exit without its entry.
 */
static inline bool direct_readers_try_enter(struct direct_readers *readers)
{
	bool entered;

	preempt_disable();
	this_cpu_inc(*readers->in);
	/*
	 * either the entry is counted, or `alone` is seen: pairs with direct_readers_try_exclude()
	 */
	smp_mb();
	entered = !READ_ONCE(readers->alone);
	if (!entered)
		this_cpu_dec(*readers->in);
	preempt_enable();
	return entered;
}

static inline void direct_readers_enter(struct direct_readers *readers, struct rw_semaphore *sem)
{
	if (direct_readers_try_enter(readers))
		return;
	down_read(sem); /* wait for the exclusive user */
	this_cpu_inc(*readers->in);
	up_read(sem);
}

static inline void direct_readers_leave(struct direct_readers *readers)
{
	smp_mb(); /* orders the reads before the exit */
	this_cpu_dec(*readers->in);
}

/* The caller holds the rwsem exclusively. */
static inline bool direct_readers_try_exclude(struct direct_readers *readers)
{
	unsigned int in = 0;
	int cpu;

	WRITE_ONCE(readers->alone, true);
	smp_mb(); /* pairs with direct_readers_try_enter() */
	for_each_possible_cpu(cpu)
		in += READ_ONCE(*per_cpu_ptr(readers->in, cpu));
	if (in) {
		WRITE_ONCE(readers->alone, false);
		return false;
	}
	smp_mb(); /* orders the last reader's exit before the writes */
	return true;
}

static inline void direct_readers_admit(struct direct_readers *readers)
{
	/* later readers see the moved blocks */
	smp_store_release(&readers->alone, false);
}

/* A request that continues after its submission, instead of one that its caller waits for. */
struct direct_sent {
	struct kiocb iocb;
	struct completion done;
	long ret;
};

static inline void direct_sent_done(struct kiocb *iocb, long ret)
{
	struct direct_sent *sent = container_of(iocb, struct direct_sent, iocb);

	sent->ret = ret;
	complete(&sent->done);
}

static inline struct kiocb *direct_send(struct direct_sent *sent, const struct kiocb *iocb)
{
	sent->iocb = *iocb;
	sent->iocb.ki_complete = direct_sent_done;
	init_completion(&sent->done);
	return &sent->iocb;
}

#endif
