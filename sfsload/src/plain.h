/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name that is alternately created and removed, and whether it is known to exist. Calls on a name may overtake one
 * another: the retransmission of a lost call may arrive behind the next call on that name.
 */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct plain_name {
	_Atomic unsigned under_way; /* pending calls on it, of all processes */
	_Atomic bool unsure; /* two were pending at a time, and no CREATE was sent alone since */
};

void plain_sent(struct plain_name *name, bool create);
void plain_answered(struct plain_name *name);

#endif
