// SPDX-License-Identifier: GPL-2.0-only
/* Decides whether to wait for a process, and learns the processes' habits. */
#include "as.h"
#include "sweep.h"

/* Longer think times are clamped: otherwise one long pause would outweigh many requests */
#define THINK_MAX_NS		(20 * IOS_NSEC_PER_MSEC)

/*
 * A request this near is close whatever the process's habits; the bound doubles with each ms waited
 */
#define CLOSE_SECTORS		8192ULL
#define CLOSE_DOUBLINGS_MAX	32ULL	/* beyond any disk */

/* More than half, for a mean of samples that are 0 or 256 */
#define HALF			128

/*
 * The process's next read after a completed one gives its think time; two in a row give its seek
 * distance
 */
void as_learn(struct as_scheduler *as, struct as_process *process, const struct ios_request *rq,
	      u64 now)
{
	u64 think;

	if (!rq->sync)
		return;
	if (process->done_ns && !process->queued[AS_READ] && !process->in_flight[AS_READ]) {
		think = min(now - process->done_ns, THINK_MAX_NS);
		ios_mean_add(&process->think_ns, think);
		ios_mean_add(&as->think_ns, think);
	}
	if (process->has_read)
		ios_mean_add(&process->seek_sectors, rq->sector >= process->end_sector ?
						     rq->sector - process->end_sector :
						     process->end_sector - rq->sector);
	process->has_read = true;
	process->end_sector = ios_end(rq);
}

static bool is_close(const struct as_scheduler *as, const struct as_process *last,
		     const struct ios_request *next, u64 now)
{
	u64 waited_ms =
		min(div64_u64(now - as->last_done_ns, IOS_NSEC_PER_MSEC), CLOSE_DOUBLINGS_MAX);
	u64 distance = ios_sweep_distance(&as_sweep, as->last_end, next->sector);

	if (distance <= CLOSE_SECTORS << waited_ms)
		return true;
	return ios_mean_known(&last->seek_sectors) &&
	       distance < ios_mean_value(&last->seek_sectors);
}

/*
 * Learns whether waiting after an exit pays off: a compiler that runs once for each file of a
 * directory is followed by the next one, at a near place; other processes are not followed by any.
 */
void as_learn_exit(struct as_scheduler *as, bool followed)
{
	ios_mean_add(&as->exit_no_coop, followed ? 0 : 256);
	as->exit_pending = false;
}

/* Handles a read after an exit */
void as_learn_after_exit(struct as_scheduler *as, const struct ios_request *rq, u64 now)
{
	bool in_time = now - as->last_done_ns < as->tunables.antic_expire_ns;

	if (!in_time || is_close(as, &as->exited_process, rq, now))
		as_learn_exit(as, in_time);
}

static u64 think_ns(const struct as_scheduler *as)
{
	return ios_mean_value(ios_mean_known(&as->last->think_ns) ? &as->last->think_ns :
								    &as->think_ns);
}

/* `next` is the request to send instead of waiting; NULL: none */
enum as_reason as_reason_against(const struct as_scheduler *as, const struct ios_request *next,
				 u64 now)
{
	const struct as_process *last = as->last;
	u64 antic_ns = as->tunables.antic_expire_ns;

	if (!last || !antic_ns)
		return AS_NO_PROCESS;
	if (next && next->owner == last)
		return AS_SAME_PROCESS;
	if (last->queued[AS_READ] || last->queued[AS_WRITE] || last->in_flight[AS_READ] ||
	    last->in_flight[AS_WRITE])
		return AS_PROCESS_HAS_IO;
	if (now - as->last_done_ns >= antic_ns)
		return AS_EXPIRED;
	if (next && is_close(as, last, next, now))
		return AS_CLOSE;
	if (last->exited)
		return ios_mean_value(&as->exit_no_coop) > HALF ? AS_EXITED : AS_WAIT;
	return think_ns(as) > antic_ns ? AS_THINKS_LONG : AS_WAIT;
}

void as_wait_end(struct as_scheduler *as, enum as_reason reason)
{
	as->ended[reason]++;
	as->waiting = false;
	as->last = NULL;
}

/* Handles a request that arrives during a wait */
void as_wait_arrival(struct as_scheduler *as, const struct ios_request *rq, u64 now)
{
	enum as_reason reason = as_reason_against(as, rq->sync ? rq : NULL, now);

	if (reason != AS_WAIT)
		as_wait_end(as, reason);
}

u64 as_overdue_ns(const struct as_queue *queue, u64 expire_ns)
{
	const struct ios_request *oldest = ios_fifo_head(&queue->fifo);

	if (!oldest)
		return IOS_NEVER;
	return max(oldest->deadline_ns, queue->fifo_checked_ns + expire_ns);
}

/* A queued read that becomes overdue ends the wait too */
u64 as_wait_until(const struct as_scheduler *as)
{
	u64 overdue = as_overdue_ns(&as->queues[AS_READ], as->tunables.expire_ns[AS_READ]);

	return min(overdue, as->last_done_ns + as->tunables.antic_expire_ns);
}
