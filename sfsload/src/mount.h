/* SPDX-License-Identifier: Apache-2.0 */
/* The way to an export's root: portmapper (RFC 1833, version 2) and mount protocol (RFC 1094 A, RFC 1813 I) */
#ifndef MOUNT_H
#define MOUNT_H

#include "calls.h"
#include "nfs.h"

struct mount_request {
	struct calls_settings settings; /* to whom; its port is not looked at */
	uint32_t version; /* of NFS */
	const char *server, *path; /* as the user wrote them */
	uint16_t portmap_port;
	uint16_t mount_port, nfs_port; /* 0: the portmapper is asked */
};

struct mounted {
	struct handle root;
	uint16_t mount_port, nfs_port;
};

/* All that goes wrong ends the program */
void mount_export(const struct mount_request *request, struct mounted *mounted);
/* So that the server's list of clients has no line too many; nobody minds if it fails */
void unmount_export(const struct mount_request *request, const struct mounted *mounted);

#endif
