/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's NFS server */
#ifndef NFSD_H
#define NFSD_H

#include <stdbool.h>

/* Executes "THREADS VERSIONS TRANSPORT ...", such as "4 +2,+3,-4 tcp udp". exportd must be running. */
bool nfsd_start(const char *line);
void nfsd_stop(void);

#endif
