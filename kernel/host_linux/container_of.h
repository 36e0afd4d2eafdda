/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's container_of() for the host: the structure that contains a member. */
#ifndef HOST_CONTAINER_OF_H
#define HOST_CONTAINER_OF_H

#include <stddef.h>

#define container_of(member_address, type, member) ((type *)((char *)(member_address) - offsetof(type, member)))

#endif
