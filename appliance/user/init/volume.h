/* SPDX-License-Identifier: Apache-2.0 */
/* Logical volumes, by LVM's own program; /etc/lvm/lvm.conf configures it */
#ifndef VOLUME_H
#define VOLUME_H

#include <stdbool.h>

/*
 * Activates "GROUP/NAME" at /dev/GROUP/NAME, after waiting for the group's disks. It is never deactivated: the device
 * mapper has nothing to write at shutdown.
 */
bool volume_start(const char *line);

#endif
