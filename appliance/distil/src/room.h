/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow; without memory the program ends */
#ifndef ROOM_H
#define ROOM_H

#include <stdio.h>
#include <stdlib.h>

/* Room for one more */
#define MAKE_ROOM(array, count, room) \
	do { \
		if ((count) == (room)) { \
			(room) = (room) ? 2 * (room) : 1024; \
			(array) = realloc((array), (room) * sizeof(*(array))); \
			if (!(array)) { \
				perror("distil"); \
				exit(1); \
			} \
		} \
	} while (0)

#endif
