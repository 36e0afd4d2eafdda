/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests in the order of their sectors. Requests at the same sector are kept in the order in which they came.
 *
 * A treap: a search tree that is also a heap by a number drawn for each node, which keeps it shallow (the expected
 * depth is about 1.4 log2 n). The draws come from a counter, so the same requests always make the same tree.
 */
#ifndef IOSCHED_SORTED_H
#define IOSCHED_SORTED_H

#include "types.h"

struct ios_request;

struct ios_node {
	struct ios_node *parent, *lower, *higher;
	u32 weight;
};

struct ios_sorted {
	struct ios_node *root;
	u32 draws;
};

void ios_sorted_init(struct ios_sorted *set);
void ios_sorted_add(struct ios_sorted *set, struct ios_request *rq);
void ios_sorted_remove(struct ios_sorted *set, struct ios_request *rq);

/* The first request at `sector` or above it; the last one below it; NULL if there is none */
struct ios_request *ios_sorted_from(const struct ios_sorted *set, u64 sector);
struct ios_request *ios_sorted_below(const struct ios_sorted *set, u64 sector);

/* The request that starts at `sector` exactly */
struct ios_request *ios_sorted_at(const struct ios_sorted *set, u64 sector);

/* The neighbours of a request that is in the set */
struct ios_request *ios_sorted_next(const struct ios_request *rq);
struct ios_request *ios_sorted_previous(const struct ios_request *rq);

#endif
