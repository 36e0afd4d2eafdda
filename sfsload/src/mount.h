/* SPDX-License-Identifier: Apache-2.0 */
/* Finds an export's root: portmapper (RFC 1833, version 2) and mount protocol (RFC 1094 A, RFC 1813 I) */
#ifndef MOUNT_H
#define MOUNT_H

#include "calls.h"
#include "nfs.h"

struct mount_request {
	struct calls_settings settings; /* the server; its port is ignored */
	uint32_t version; /* of NFS */
	const char *server, *path; /* as the user wrote them */
	uint16_t portmap_port;
	uint16_t mount_port, nfs_port; /* 0: ask the portmapper */
};

struct mounted {
	struct handle root;
	uint16_t mount_port, nfs_port;
};

/* Any failure ends the program */
void mount_export(const struct mount_request *request, struct mounted *mounted);
/* Removes the client from the server's list; a failure does not matter */
void unmount_export(const struct mount_request *request, const struct mounted *mounted);

#endif
