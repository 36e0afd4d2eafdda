/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel serves already. It tells the portmapper once, when it opens its ports; a portmapper that ended and was
 * started again would not know of NFS and of locks any more, and asks the kernel.
 */
#ifndef SERVED_H
#define SERVED_H

#include "portmap.h"

/* `versions` and `ports` are the texts of nfsd's files of that name ("+2 +3 -4", "tcp 2049" a line) */
void served_add(struct portmap *map, const char *versions, const char *ports, unsigned lock_tcp, unsigned lock_udp);

void served_learn(struct portmap *map);

#endif
