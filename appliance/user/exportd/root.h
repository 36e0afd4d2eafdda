/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root from which NFS version 4 clients walk (RFC 7530, section 7.3), because version 4 has no mount protocol. It
 * is the appliance's own root, exported with a flag that hides everything but the way to the exports: for each name
 * below it the kernel asks whether that is an export for the client; if not, the name does not exist.
 */
#ifndef ROOT_H
#define ROOT_H

#include "exports.h"

#define ROOT_PATH "/"

enum {
	ROOT_FSID = 0, /* the root's number in the kernel */
	/* NFSEXP_V4ROOT of include/uapi/linux/nfsd/export.h */
	ROOT_FLAG = 0x10000
};

/*
 * Makes and returns the rule of the root for `address`. NULL if there is none: version 4 is not offered, or the address
 * has no export. The root is read-only, and a client's root is squashed, whatever the exports say.
 */
const struct export_rule *root_rule(const struct exports *exports, uint32_t address, struct export_rule *rule);

#endif
