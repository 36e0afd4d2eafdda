/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name that is created and removed by turns, and whether it is known to be there. Calls on a name may overtake one
 * another: of those that were lost the second sending comes late, maybe behind the next call on that name.
 */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct plain_name {
	_Atomic unsigned under_way; /* calls on it, of all processes */
	_Atomic bool unsure; /* two were under way at a time, and no CREATE has been sent alone since */
};

void plain_sent(struct plain_name *name, bool create);
void plain_answered(struct plain_name *name);

#endif
