/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mount protocol, versions 1 and 2 (RFC 1094, appendix A; 2 is 1 with PATHCONF, which is not offered) and 3 (RFC
 * 1813, appendix I): from a path to the first file handle.
 */
#ifndef MOUNT_H
#define MOUNT_H

#include "exports.h"
#include "rpc.h"

enum { MOUNT_PROGRAM = 100005, MOUNT_PATH = 1024, MOUNT_NAME = 255, MOUNT_HANDLE_2 = 32, MOUNT_HANDLE_3 = 64 };

/* Statuses of version 3; those of version 1 have the same numbers */
enum mount_status {
	MOUNT_OK = 0,
	MOUNT_NO_ENTRY = 2,
	MOUNT_IO = 5,
	MOUNT_ACCESS = 13,
	MOUNT_NOT_A_FOLDER = 20,
	MOUNT_SERVER_FAULT = 10006
};

enum { MOUNT_LISTED = 64 };

struct mount {
	const struct exports *exports;
	/* Gets the kernel's handle of the directory `path`, of at most `most` bytes, for a client. Tests replace it. */
	enum mount_status (*handle_of)(const struct export_rule *rule, uint32_t address, const char *path, size_t most,
				       uint8_t *handle, size_t *length);
	/* A mount, for DUMP only: the latest MOUNT_LISTED are kept */
	struct mount_entry {
		uint32_t address;
		char path[EXPORT_PATH];
	} entries[MOUNT_LISTED];
	size_t count, next;
};

rpc_procedure mount_procedure; /* state: struct mount */

#endif
