/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Search trees for the host, with the names of the kernel's rbtree.h. Only the functions that cores use are here. They
 * keep the same order as the kernel's, with equal elements in order of insertion. They are not balanced, because the
 * trees of tests are small.
 */
#ifndef HOST_RBTREE_H
#define HOST_RBTREE_H

#include <stdbool.h>

#include "container_of.h"

struct rb_node {
	struct rb_node *parent, *rb_left, *rb_right;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
};

#define RB_ROOT_CACHED (struct rb_root_cached) { { NULL } }

#define rb_entry(node, type, member) container_of(node, type, member)

static inline struct rb_node *rb_lowest(struct rb_node *node)
{
	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

static inline struct rb_node *rb_highest(struct rb_node *node)
{
	while (node && node->rb_right)
		node = node->rb_right;
	return node;
}

#define rb_first_cached(tree) rb_lowest((tree)->rb_root.rb_node)

static inline struct rb_node *rb_last(const struct rb_root *root)
{
	return rb_highest(root->rb_node);
}

static inline struct rb_node *rb_next(const struct rb_node *node)
{
	if (node->rb_right)
		return rb_lowest(node->rb_right);
	while (node->parent && node->parent->rb_right == node)
		node = node->parent;
	return node->parent;
}

static inline struct rb_node *rb_prev(const struct rb_node *node)
{
	if (node->rb_left)
		return rb_highest(node->rb_left);
	while (node->parent && node->parent->rb_left == node)
		node = node->parent;
	return node->parent;
}

static inline void rb_add_cached(struct rb_node *node, struct rb_root_cached *tree,
				 bool (*less)(struct rb_node *, const struct rb_node *))
{
	struct rb_node *parent = NULL, **link = &tree->rb_root.rb_node;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->rb_left : &parent->rb_right;
	}
	*node = (struct rb_node) { .parent = parent };
	*link = node;
}

/* Puts `other` in the place of `node` */
static inline void rb_replace(struct rb_node *node, struct rb_node *other, struct rb_root *root)
{
	struct rb_node *parent = node->parent;

	if (!parent)
		root->rb_node = other;
	else if (parent->rb_left == node)
		parent->rb_left = other;
	else
		parent->rb_right = other;
	if (other)
		other->parent = parent;
}

static inline void rb_erase_cached(struct rb_node *node, struct rb_root_cached *tree)
{
	struct rb_node *next;

	if (!node->rb_left || !node->rb_right) {
		rb_replace(node, node->rb_left ? node->rb_left : node->rb_right, &tree->rb_root);
		return;
	}
	next = rb_lowest(node->rb_right);
	rb_replace(next, next->rb_right, &tree->rb_root);
	*next = *node;
	rb_replace(node, next, &tree->rb_root);
	next->rb_left->parent = next;
	if (next->rb_right)
		next->rb_right->parent = next;
}

#endif
