/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The services that the kernel runs already. The kernel registers with the portmapper once, when it opens its ports. A
 * restarted portmapper would not know NFS and locks any more, so it asks the kernel.
 */
#ifndef SERVED_H
#define SERVED_H

#include "portmap.h"

/* `versions` and `ports` are the texts of nfsd's files of that name ("+2 +3 -4", "tcp 2049" a line) */
void served_add(struct portmap *map, const char *versions, const char *ports, unsigned lock_tcp, unsigned lock_udp);

void served_learn(struct portmap *map);

#endif
