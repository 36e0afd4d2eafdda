// SPDX-License-Identifier: Apache-2.0
/* The root of NFS version 4 */
#include "root.h"

enum { ROOT_SQUASH = 4, NOBODY = 65534 };

const struct export_rule *root_rule(const struct exports *exports, uint32_t address, struct export_rule *rule)
{
	bool any = false;

	*rule = (struct export_rule) {
		.path = ROOT_PATH,
		.fsid = ROOT_FSID,
		.flags = EXPORT_READ_ONLY | ROOT_SQUASH | ROOT_FLAG,
		.anon_uid = NOBODY,
		.anon_gid = NOBODY,
	};
	for (size_t i = 0; exports->version_4 && i < exports->count; i++) {
		const struct export_rule *other = &exports->rules[i];

		if (exports_find(exports, other->path, address) != other)
			continue;
		any = true;
		rule->flags |= other->flags & EXPORT_ANY_PORT; /* otherwise such a client could not reach that export */
	}
	return any ? rule : NULL;
}
