/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the outstanding calls of a kind; the others wait in order of arrival */
#ifndef LIMIT_H
#define LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_OUTSTANDING = 2 };

/* A member of the waiting item */
struct limited {
	struct limited *behind;
};

struct limit {
	struct limited *first, *last;
	uint64_t waiting, outstanding, max_seen;
};

/* True: it is outstanding now. False: it waits. */
bool limit_enter(struct limit *limit, struct limited *item);
/* An outstanding item has ended. Returns the next one, which is outstanding now; or NULL. */
struct limited *limit_leave(struct limit *limit);
/* Removes the first waiting item, which is not sent; NULL: none waits */
struct limited *limit_drop(struct limit *limit);

#endif
