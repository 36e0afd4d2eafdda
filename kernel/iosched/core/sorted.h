/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests in the order of their sectors, in a red-black tree. Requests at the same sector are kept
 * in the order in which they came. An empty tree is RB_ROOT_CACHED.
 */
#ifndef IOSCHED_SORTED_H
#define IOSCHED_SORTED_H

#include "platform.h"

struct ios_request;

void ios_sorted_add(struct rb_root_cached *tree, struct ios_request *rq);
void ios_sorted_remove(struct rb_root_cached *tree, struct ios_request *rq);

/* The first request at `sector` or above it; the last one below it; NULL if there is none */
struct ios_request *ios_sorted_from(const struct rb_root_cached *tree, u64 sector);
struct ios_request *ios_sorted_below(const struct rb_root_cached *tree, u64 sector);

/* The first of all; NULL if there is none */
struct ios_request *ios_sorted_first(const struct rb_root_cached *tree);

/* The request that starts at `sector` exactly */
struct ios_request *ios_sorted_at(const struct rb_root_cached *tree, u64 sector);

/* The neighbours of a request that is in the tree */
struct ios_request *ios_sorted_next(const struct ios_request *rq);
struct ios_request *ios_sorted_previous(const struct ios_request *rq);

#endif
