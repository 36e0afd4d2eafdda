/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A doubly linked list through the members of its elements. An element that is on no list points to itself.
 */
#ifndef IOSCHED_LIST_H
#define IOSCHED_LIST_H

#include "types.h"

struct ios_link {
	struct ios_link *before, *after;
};

static inline void ios_link_init(struct ios_link *link)
{
	link->before = link;
	link->after = link;
}

static inline bool ios_list_empty(const struct ios_link *head)
{
	return head->after == head;
}

/* Puts `link` in front of `place`; in front of the head is the end of the list */
static inline void ios_list_insert(struct ios_link *link, struct ios_link *place)
{
	link->before = place->before;
	link->after = place;
	place->before->after = link;
	place->before = link;
}

static inline void ios_list_remove(struct ios_link *link)
{
	link->before->after = link->after;
	link->after->before = link->before;
	ios_link_init(link);
}

#endif
