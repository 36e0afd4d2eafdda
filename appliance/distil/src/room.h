/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed and growing arrays; without memory the program ends */
#ifndef ROOM_H
#define ROOM_H

#include <stdio.h>
#include <stdlib.h>

static inline void *memory_or_end(void *memory)
{
	if (!memory) {
		perror("distil");
		exit(1);
	}
	return memory;
}

/* Allocates `count` zeroed members */
static inline void *zeroed(size_t count, size_t size)
{
	return memory_or_end(calloc(count, size));
}

/* Makes room for one more member */
#define MAKE_ROOM(array, count, room) \
	do { \
		if ((count) == (room)) { \
			(room) = (room) ? 2 * (room) : 1024; \
			(array) = memory_or_end(realloc((array), (room) * sizeof(*(array)))); \
		} \
	} while (0)

#endif
