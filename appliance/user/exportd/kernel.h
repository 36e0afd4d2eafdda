/* SPDX-License-Identifier: Apache-2.0 */
/* The interface to the kernel's NFS server: its caches' questions, and file handles of directories */
#ifndef KERNEL_H
#define KERNEL_H

#include "caches.h"
#include "mount.h"

/*
 * True if something is mounted at `path`. If a disk is missing, the directory belongs to the appliance's root. The
 * kernel would export that as a whole if it is a tmpfs, because handles do not name directories.
 */
bool kernel_has_disk_at(const char *path);

/* Opens the channels; a missing one is -1. Returns false, and logs it, if one is missing. */
bool kernel_open(int channels[CACHES]);

/* Reads one question from a channel, and answers it */
void kernel_answer(int channel, enum cache cache, const struct exports *exports);

/* handle_of() of struct mount */
enum mount_status kernel_handle(const struct export_rule *rule, uint32_t address, const char *path, size_t most,
				uint8_t *handle, size_t *length);

#endif
