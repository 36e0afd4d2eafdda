/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Doubly linked lists for the host, with the names of the kernel's list.h. Only the functions that cores use are here.
 */
#ifndef HOST_LIST_H
#define HOST_LIST_H

#include <stdbool.h>

#include "container_of.h"

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list->prev = list;
}

static inline void list_add_tail(struct list_head *item, struct list_head *list)
{
	item->prev = list->prev;
	item->next = list;
	list->prev->next = item;
	list->prev = item;
}

static inline void list_del_init(struct list_head *item)
{
	item->next->prev = item->prev;
	item->prev->next = item->next;
	INIT_LIST_HEAD(item);
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

#define list_entry(item, type, member) container_of(item, type, member)
#define list_first_entry(list, type, member) list_entry((list)->next, type, member)
#define list_next_entry(at, member) list_entry((at)->member.next, __typeof__(*(at)), member)

#define list_for_each(at, list) for (at = (list)->next; at != (list); at = at->next)

#define list_for_each_entry(at, list, member) \
	for (at = list_first_entry(list, __typeof__(*(at)), member); &at->member != (list); \
	     at = list_next_entry(at, member))

#define list_for_each_entry_safe(at, after, list, member) \
	for (at = list_first_entry(list, __typeof__(*(at)), member), after = list_next_entry(at, member); \
	     &at->member != (list); at = after, after = list_next_entry(at, member))

#endif
