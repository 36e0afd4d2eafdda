// SPDX-License-Identifier: GPL-2.0-only
/* A CFQ scheduler with three processes, whose calls take ms */
#include "cfq_bed.h"

struct cfq_scheduler cfq;
struct cfq_queue first, second, third;
const struct cfq_priority normal = { CFQ_BE, CFQ_NORMAL };

void start_cfq(void)
{
	struct cfq_tunables tunables;

	cfq_default_tunables(&tunables);
	cfq_init(&cfq, &tunables, 0);
	cfq_queue_init(&first, true);
	cfq_queue_init(&second, true);
	cfq_queue_init(&third, true);
}

void add_at(struct ios_request *rq, struct cfq_queue *queue, u64 ms)
{
	cfq_add(&cfq, rq, queue, normal, MS(ms));
}

struct ios_request *next_at(u64 ms)
{
	return cfq_dispatch(&cfq, MS(ms));
}
