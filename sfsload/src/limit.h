/* SPDX-License-Identifier: Apache-2.0 */
/* At most so many calls of a kind outstanding; the others wait in the order in which they came */
#ifndef LIMIT_H
#define LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_OUTSTANDING = 2 };

/* At the head of what waits */
struct limited {
	struct limited *behind;
};

struct limit {
	struct limited *first, *last;
	uint64_t waiting, outstanding, max_seen;
};

/* True: it may go now, and is outstanding. False: it waits. */
bool limit_enter(struct limit *limit, struct limited *item);
/* One that was outstanding has ended. The one that may go instead, and is outstanding; or NULL. */
struct limited *limit_leave(struct limit *limit);
/* The next of those that wait no longer waits, and does not go; NULL: none waits */
struct limited *limit_drop(struct limit *limit);

#endif
