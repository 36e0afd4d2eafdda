// SPDX-License-Identifier: GPL-2.0-only
/*
 * A power cut, as far as it happens in the guest: the old content of each write goes to the region of fb_undo.h, and at
 * the chosen moment the machine ends at once, with nothing written back or said goodbye to. The host does the rest
 * ("fbmedia cut").
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/reboot.h>

#include "fb_power.h"
#include "media_blk.h"

/* A write of these bytes is about to change the content; returns the number of its record */
u64 media_blk_undo_begin(struct media_blk *mb, u64 offset_bytes, u64 length_bytes)
{
	unsigned long flags;
	u64 number;

	spin_lock_irqsave(&mb->lock, flags);
	number = fb_undo_begin(mb->undo, offset_bytes, length_bytes);
	memcpy(fb_undo_content(mb->undo, fb_undo_record(mb->undo, number)), mb->data + offset_bytes, length_bytes);
	spin_unlock_irqrestore(&mb->lock, flags);
	return number;
}

static enum hrtimer_restart cut(struct hrtimer *timer)
{
	struct media_blk *mb = container_of(timer, struct media_blk, cut_timer);

	mb->undo->cut_ns = ktime_get_ns();
	emergency_restart();
	return HRTIMER_NORESTART;
}

void media_blk_cut_init(struct media_blk *mb)
{
	hrtimer_init(&mb->cut_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	mb->cut_timer.function = cut;
}

/* The medium was asked at now_ns; the caller holds the lock */
void media_blk_cut_count(struct media_blk *mb, u64 now_ns)
{
	if (++mb->requests == mb->options.cut_at_request)
		hrtimer_start(&mb->cut_timer, ns_to_ktime(now_ns + mb->options.cut_after_ns), HRTIMER_MODE_ABS_HARD);
}
