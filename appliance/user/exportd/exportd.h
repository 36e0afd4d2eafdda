/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon beside the kernel's NFS server: portmapper, mount protocol, status monitor, and access control */
#ifndef EXPORTD_H
#define EXPORTD_H

/* Serves forever; returns main()'s exit status if it cannot start */
int exportd_main(int count, char **arguments);

enum { EXPORTD_MOUNT_PORT = 20048, EXPORTD_STATD_PORT = 32765 };

#endif
