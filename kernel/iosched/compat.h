/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the kernels 6.1 and 6.12. */
#ifndef IOSCHED_COMPAT_H
#define IOSCHED_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/version.h>

#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-sched.h"
#include "elevator.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
typedef blk_insert_t ios_insert_flags;
#define IOS_RQF_PREPARED RQF_USE_SCHED

static inline bool ios_at_head(ios_insert_flags flags)
{
	return flags & BLK_MQ_INSERT_AT_HEAD;
}
#else
typedef bool ios_insert_flags;
#define IOS_RQF_PREPARED RQF_ELVPRIV	/* prepare_request() was called for it */

static inline bool ios_at_head(ios_insert_flags at_head)
{
	return at_head;
}
#endif

#endif
