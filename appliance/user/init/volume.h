/* SPDX-License-Identifier: Apache-2.0 */
/* Logical volumes, by LVM's own program; /etc/lvm/lvm.conf says how it works here */
#ifndef VOLUME_H
#define VOLUME_H

#include <stdbool.h>

/*
 * Takes "GROUP/NAME", and waits for the disks of the group. The volume is at /dev/GROUP/NAME then. There is no way back:
 * the device mapper keeps nothing that has to be written when the machine goes down.
 */
bool volume_start(const char *line);

#endif
