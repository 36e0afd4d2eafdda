/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of the kernel's software RAID, put together as their superblocks say: those of version 0.90 and of 1.x. Blank
 * ones can be made: a mirror whose members are the same already. A member that was away is filled again, and so is an
 * empty disk at its place; one that holds anything else is left alone.
 */
#ifndef MIRROR_H
#define MIRROR_H

#include <stdbool.h>

enum { MIRROR_MEMBERS = 8 };

/* Takes "mdN assemble|create DEVICE ...". With create, members without superblocks become a RAID1. */
bool mirror_start(const char *line);
void mirror_stop_all(void);
/* Logs what changes in /proc/mdstat, and every ten seconds how far a rebuild is. For ever. */
void mirror_watch(void);

#endif
