/* SPDX-License-Identifier: GPL-2.0-only */
/* A CFQ scheduler with three processes, whose calls take ms. What its tests share. */
#ifndef CFQ_BED_H
#define CFQ_BED_H

#include "cfq.h"
#include "test.h"

extern struct cfq_scheduler cfq;
extern struct cfq_queue first, second, third;
extern const struct cfq_priority normal;

/* Scheduler and processes as they begin, with the default tunables */
void start_cfq(void);

/* Of normal priority */
void add_at(struct ios_request *rq, struct cfq_queue *queue, u64 ms);

/* What is dispatched then; NULL if nothing is */
struct ios_request *next_at(u64 ms);

#endif
