/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one-way elevator: forward by sector and then from the lowest again, with short seeks back.
 *
 * A backward seek is allowed up to `back_max` sectors and costs `back_penalty` times its distance,
 * so that it is chosen only if it is that much shorter than the forward seek.
 */
#ifndef IOSCHED_SWEEP_H
#define IOSCHED_SWEEP_H

#include "request.h"

struct ios_sweep {
	u64 back_max;		/* sectors */
	u32 back_penalty;
};

/* The next request from `head`; NULL if the tree is empty */
struct ios_request *ios_sweep_next(const struct ios_sweep *sweep, const struct rb_root_cached *tree,
				   u64 head);

/* The cost of the seek from `head` to `sector`, in sectors */
u64 ios_sweep_distance(const struct ios_sweep *sweep, u64 head, u64 sector);

#endif
