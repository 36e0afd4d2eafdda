/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of the kernel's software RAID, assembled by their superblocks, of version 0.90 and of 1.x. Blank disks can
 * become a new mirror, whose members are already equal. A returned member is rebuilt, and so is an empty disk in its
 * place; a disk with other content is left alone.
 */
#ifndef MIRROR_H
#define MIRROR_H

#include <stdbool.h>

enum { MIRROR_MEMBERS = 8 };

/* Executes "mdN assemble|create DEVICE ...". With create, members without superblocks become a RAID1. */
bool mirror_start(const char *line);
void mirror_stop_all(void);
/* Logs changes of /proc/mdstat, and a rebuild's progress every ten seconds. Runs forever. */
void mirror_watch(void);

#endif
