/* SPDX-License-Identifier: Apache-2.0 */
/* Disks: mirrors put together, file systems mounted, and the way back */
#ifndef DISKS_H
#define DISKS_H

#include <stdbool.h>

/* Waits up to `wait_ms` for a block device; false if it does not come */
bool disk_wait(const char *device, int wait_ms);

/* Mounts `device` at `folder`, which is made; `options` are the file system's own, "" for none */
bool disk_mount(const char *device, const char *folder, const char *kind, const char *options, bool read_only);

/* Unmounts all that disk_mount() has mounted, the last first; what is still busy becomes read-only */
void disks_leave(void);

#endif
