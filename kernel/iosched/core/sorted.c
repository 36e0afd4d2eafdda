// SPDX-License-Identifier: GPL-2.0-only
/* Requests ordered by sector, in Linux's red-black tree. */
#include "request.h"
#include "sorted.h"

static struct ios_request *request_of(struct rb_node *node)
{
	return node ? rb_entry(node, struct ios_request, node) : NULL;
}

/* Equal sectors never compare as below, so rb_add_cached() inserts a request behind earlier ones */
static bool is_below(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct ios_request, node)->sector <
	       rb_entry(other, const struct ios_request, node)->sector;
}

void ios_sorted_add(struct rb_root_cached *tree, struct ios_request *rq)
{
	rb_add_cached(&rq->node, tree, is_below);
}

void ios_sorted_remove(struct rb_root_cached *tree, struct ios_request *rq)
{
	rb_erase_cached(&rq->node, tree);
}

struct ios_request *ios_sorted_from(const struct rb_root_cached *tree, u64 sector)
{
	struct rb_node *node = tree->rb_root.rb_node, *found = NULL;

	while (node) {
		if (request_of(node)->sector >= sector) {
			found = node;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return request_of(found);
}

struct ios_request *ios_sorted_below(const struct rb_root_cached *tree, u64 sector)
{
	const struct ios_request *from = ios_sorted_from(tree, sector);

	return from ? ios_sorted_previous(from) : request_of(rb_last(&tree->rb_root));
}

struct ios_request *ios_sorted_first(const struct rb_root_cached *tree)
{
	return request_of(rb_first_cached(tree));
}

struct ios_request *ios_sorted_at(const struct rb_root_cached *tree, u64 sector)
{
	struct ios_request *rq = ios_sorted_from(tree, sector);

	return rq && rq->sector == sector ? rq : NULL;
}

struct ios_request *ios_sorted_next(const struct ios_request *rq)
{
	return request_of(rb_next(&rq->node));
}

struct ios_request *ios_sorted_previous(const struct ios_request *rq)
{
	return request_of(rb_prev(&rq->node));
}
