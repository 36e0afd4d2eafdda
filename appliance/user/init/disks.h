/* SPDX-License-Identifier: Apache-2.0 */
/* Disks: assembles mirrors, mounts file systems, and undoes both */
#ifndef DISKS_H
#define DISKS_H

#include <stdbool.h>

/* Waits up to `wait_ms` for a block device; false if it does not appear */
bool disk_wait(const char *device, int wait_ms);

/* Makes the directory `folder` and mounts `device` there; `options` are the file system's own, "" for none */
bool disk_mount(const char *device, const char *folder, const char *kind, const char *options, bool read_only);

/* Unmounts everything that disk_mount() has mounted, in reverse order; a busy file system is remounted read-only */
void disks_leave(void);

#endif
