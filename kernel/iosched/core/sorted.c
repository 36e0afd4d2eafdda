// SPDX-License-Identifier: GPL-2.0-only
#include "request.h"
#include "sorted.h"

static struct ios_request *request_of(struct ios_node *node)
{
	return node ? container_of(node, struct ios_request, node) : NULL;
}

static u64 sector_of(struct ios_node *node)
{
	return request_of(node)->sector;
}

/* A counter with its bits well mixed: odd multipliers and folding; the constants are arbitrary */
static u32 draw(struct ios_sorted *set)
{
	u32 x = ++set->draws * 0x9e3779b1u;

	x ^= x >> 15;
	x *= 0x85ebca6bu;
	return x ^ (x >> 13);
}

static struct ios_node **place_of(struct ios_sorted *set, struct ios_node *node)
{
	if (!node->parent)
		return &set->root;
	return node->parent->lower == node ? &node->parent->lower : &node->parent->higher;
}

/* Lifts `child` into its parent's place */
static void rotate_up(struct ios_sorted *set, struct ios_node *child)
{
	struct ios_node *parent = child->parent, *moved;

	*place_of(set, parent) = child;
	child->parent = parent->parent;
	if (parent->lower == child) {
		moved = child->higher;
		child->higher = parent;
		parent->lower = moved;
	} else {
		moved = child->lower;
		child->lower = parent;
		parent->higher = moved;
	}
	parent->parent = child;
	if (moved)
		moved->parent = parent;
}

void ios_sorted_init(struct ios_sorted *set)
{
	set->root = NULL;
	set->draws = 0;
}

void ios_sorted_add(struct ios_sorted *set, struct ios_request *rq)
{
	struct ios_node *node = &rq->node, **place = &set->root;

	node->parent = NULL;
	node->lower = NULL;
	node->higher = NULL;
	node->weight = draw(set);
	while (*place) {
		node->parent = *place;
		place = rq->sector < sector_of(*place) ? &(*place)->lower : &(*place)->higher;
	}
	*place = node;
	while (node->parent && node->parent->weight > node->weight)
		rotate_up(set, node);
}

void ios_sorted_remove(struct ios_sorted *set, struct ios_request *rq)
{
	struct ios_node *node = &rq->node, *child;

	while (node->lower && node->higher)
		rotate_up(set, node->lower->weight < node->higher->weight ? node->lower : node->higher);
	child = node->lower ? node->lower : node->higher;
	*place_of(set, node) = child;
	if (child)
		child->parent = node->parent;
}

struct ios_request *ios_sorted_from(const struct ios_sorted *set, u64 sector)
{
	struct ios_node *node = set->root, *found = NULL;

	while (node) {
		if (sector_of(node) >= sector) {
			found = node;
			node = node->lower;
		} else {
			node = node->higher;
		}
	}
	return request_of(found);
}

struct ios_request *ios_sorted_below(const struct ios_sorted *set, u64 sector)
{
	struct ios_node *node = set->root, *found = NULL;

	while (node) {
		if (sector_of(node) < sector) {
			found = node;
			node = node->higher;
		} else {
			node = node->lower;
		}
	}
	return request_of(found);
}

struct ios_request *ios_sorted_at(const struct ios_sorted *set, u64 sector)
{
	struct ios_request *rq = ios_sorted_from(set, sector);

	return rq && rq->sector == sector ? rq : NULL;
}

struct ios_request *ios_sorted_next(const struct ios_request *rq)
{
	const struct ios_node *node = &rq->node;
	struct ios_node *next = node->higher;

	if (next) {
		while (next->lower)
			next = next->lower;
		return request_of(next);
	}
	while (node->parent && node->parent->higher == node)
		node = node->parent;
	return request_of(node->parent);
}

struct ios_request *ios_sorted_previous(const struct ios_request *rq)
{
	const struct ios_node *node = &rq->node;
	struct ios_node *previous = node->lower;

	if (previous) {
		while (previous->higher)
			previous = previous->higher;
		return request_of(previous);
	}
	while (node->parent && node->parent->lower == node)
		node = node->parent;
	return request_of(node->parent);
}
