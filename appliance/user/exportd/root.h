/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root that clients of NFS version 4 walk from (RFC 7530, section 7.3): version 4 has no mount protocol. It is the
 * appliance's own root, exported with a flag by which the kernel shows nothing of it but what it leads to: of each name
 * below it the kernel asks whether that is an export for the client, and where it is none, there is no such name.
 */
#ifndef ROOT_H
#define ROOT_H

#include "exports.h"

#define ROOT_PATH "/"

enum {
	ROOT_FSID = 0, /* by which the kernel knows the root */
	/* NFSEXP_V4ROOT of include/uapi/linux/nfsd/export.h */
	ROOT_FLAG = 0x10000
};

/*
 * Makes the rule by which `address` has the root, and gives it back. NULL if it has none: version 4 is not offered, or
 * no export is for it. Nothing can be written there, and root of a client is nobody, whatever the exports say.
 */
const struct export_rule *root_rule(const struct exports *exports, uint32_t address, struct export_rule *rule);

#endif
