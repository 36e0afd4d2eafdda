// SPDX-License-Identifier: GPL-2.0-only
/* The choice of the next request from the head's position, and the cost of a seek. */
#include "sweep.h"

u64 ios_sweep_distance(const struct ios_sweep *sweep, u64 head, u64 sector)
{
	return sector >= head ? sector - head : (head - sector) * sweep->back_penalty;
}

struct ios_request *ios_sweep_next(const struct ios_sweep *sweep, const struct rb_root_cached *tree,
				   u64 head)
{
	struct ios_request *ahead = ios_sorted_from(tree, head);
	struct ios_request *behind = ios_sorted_below(tree, head);

	if (behind && head - behind->sector > sweep->back_max)
		behind = NULL;
	if (!ahead)
		return behind ? behind : ios_sorted_first(tree);
	if (!behind)
		return ahead;
	return ios_sweep_distance(sweep, head, behind->sector) <
			       ios_sweep_distance(sweep, head, ahead->sector) ?
		       behind :
		       ahead;
}
