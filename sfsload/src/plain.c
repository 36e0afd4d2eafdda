// SPDX-License-Identifier: Apache-2.0
/* Tracks when a name that is alternately created and removed is known to exist */
#include "plain.h"

void plain_sent(struct plain_name *name, bool create)
{
	if (atomic_fetch_add(&name->under_way, 1))
		atomic_store(&name->unsure, true);
	else if (create)
		atomic_store(&name->unsure, false);
}

void plain_answered(struct plain_name *name)
{
	atomic_fetch_sub(&name->under_way, 1);
}
