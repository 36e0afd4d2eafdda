/* SPDX-License-Identifier: Apache-2.0 */
/* The doors of the kernel's NFS server: its caches' questions, and file handles of folders */
#ifndef KERNEL_H
#define KERNEL_H

#include "caches.h"
#include "mount.h"

/*
 * Whether something is mounted at `path`. Where a disk is missing the folder is the appliance's own root, which the
 * kernel exports where it is a tmpfs, and all of it: handles know no folders.
 */
bool kernel_has_disk_at(const char *path);

/* Opens the channels; -1 in those that are not there. False if one is missing, and says so. */
bool kernel_open(int channels[CACHES]);

/* Reads one question from a channel, and answers it */
void kernel_answer(int channel, enum cache cache, const struct exports *exports);

/* handle_of() of struct mount */
enum mount_status kernel_handle(const struct export_rule *rule, uint32_t address, const char *path, size_t most,
				uint8_t *handle, size_t *length);

#endif
