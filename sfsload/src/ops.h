/* SPDX-License-Identifier: Apache-2.0 */
/* The NFS operations of a load, and two more that make its file set */
#ifndef OPS_H
#define OPS_H

enum op {
	OP_LOOKUP,
	OP_READ,
	OP_WRITE,
	OP_GETATTR,
	OP_READLINK,
	OP_READDIR,
	OP_CREATE,
	OP_REMOVE,
	OP_FSSTAT, /* version 2 calls it STATFS */
	OP_SETATTR,
	OP_READDIRPLUS,
	OP_ACCESS,
	OP_COMMIT,
	OP_FSINFO,
	MIX_OPS,
	OP_MKDIR = MIX_OPS,
	OP_SYMLINK,
	OPS,
};

/* The name in JSON: "readdirplus" */
const char *op_name(enum op op);

#endif
