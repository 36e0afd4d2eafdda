// SPDX-License-Identifier: Apache-2.0
/* Calls that wait for their turn */
#include <stddef.h>

#include "limit.h"

bool limit_enter(struct limit *limit, struct limited *item)
{
	item->behind = NULL;
	if (limit->outstanding < MAX_OUTSTANDING) {
		limit->outstanding++;
		if (limit->outstanding > limit->max_seen)
			limit->max_seen = limit->outstanding;
		return true;
	}
	*(limit->last ? &limit->last->behind : &limit->first) = item;
	limit->last = item;
	limit->waiting++;
	return false;
}

struct limited *limit_drop(struct limit *limit)
{
	struct limited *item = limit->first;

	if (!item)
		return NULL;
	limit->first = item->behind;
	if (!limit->first)
		limit->last = NULL;
	limit->waiting--;
	return item;
}

struct limited *limit_leave(struct limit *limit)
{
	struct limited *next = limit_drop(limit);

	if (!next)
		limit->outstanding--;
	return next;
}
