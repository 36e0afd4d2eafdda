// SPDX-License-Identifier: Apache-2.0
/* The operations' names */
#include "ops.h"

static const char *const names[OPS] = {
	[OP_LOOKUP] = "lookup",
	[OP_READ] = "read",
	[OP_WRITE] = "write",
	[OP_GETATTR] = "getattr",
	[OP_READLINK] = "readlink",
	[OP_READDIR] = "readdir",
	[OP_CREATE] = "create",
	[OP_REMOVE] = "remove",
	[OP_FSSTAT] = "fsstat",
	[OP_SETATTR] = "setattr",
	[OP_READDIRPLUS] = "readdirplus",
	[OP_ACCESS] = "access",
	[OP_COMMIT] = "commit",
	[OP_FSINFO] = "fsinfo",
	[OP_MKDIR] = "mkdir",
	[OP_SYMLINK] = "symlink",
};

const char *op_name(enum op op)
{
	return names[op];
}
