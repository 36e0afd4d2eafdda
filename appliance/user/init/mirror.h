/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays of the kernel's software RAID, put together as their superblocks say: those of version 0.90 and of 1.x. Blank
 * ones can be made: a mirror whose members are the same already. What lies on the members is never written here.
 */
#ifndef MIRROR_H
#define MIRROR_H

#include <stdbool.h>
#include <stdint.h>

enum { MIRROR_MEMBERS = 8 };

/* Takes "mdN assemble|create DEVICE ...". With create, members without superblocks become a RAID1. */
bool mirror_start(const char *line);
void mirror_stop_all(void);
/* Logs what changes in /proc/mdstat, and every ten seconds how far a rebuild is. For ever. */
void mirror_watch(void);

/*
 * The superblock of a member of `bytes` bytes: major and minor version, such as 0.90 as {0, 90} and 1.2 as {1, 2}.
 * False if it has none.
 */
struct mirror_version {
	int major, minor;
};
bool mirror_version_of(int file, uint64_t bytes, struct mirror_version *version);

#endif
