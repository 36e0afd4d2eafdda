/* SPDX-License-Identifier: Apache-2.0 */
/* A request and an answer of NFS, independent of the version: nfs2.c and nfs3.c encode and decode them */
#ifndef NFS_H
#define NFS_H

#include "ops.h"
#include "rpc.h"
#include "xdr.h"

enum {
	NFS_BLOCK = 8192, /* the largest READ, WRITE or directory listing */
	MAX_HANDLE = 64,
	MAX_NAME = 255,
};

enum nfs_type { NFS_FILE = 1, NFS_DIRECTORY = 2, NFS_LINK = 5 };

/* Status numbers that callers test; nfs_status_name() names all */
enum nfs_status { NFS_OK = 0, NFS_NO_ENTRY = 2, NFS_EXISTS = 17 };

/* The ACCESS rights requested: read and modify */
enum { NFS_ACCESS_ASKED = 0x01 | 0x04 };

struct handle {
	uint32_t length; /* bytes; 0: none */
	uint8_t bytes[MAX_HANDLE];
};

struct nfs_request {
	enum op op;
	const struct handle *object; /* the object; for a name, its directory */
	const char *name;
	const char *target; /* a link's target */
	uint64_t offset; /* bytes */
	uint32_t length; /* bytes, at most NFS_BLOCK */
	const uint8_t *data; /* the data of a write, `length` bytes */
	bool stable; /* the write is on the medium before its answer (always in version 2) */
	uint32_t mode; /* of a new object; SETATTR */
	bool set_size; /* SETATTR sets the size only, to `size` */
	uint64_t size;
};

/* Absent fields are 0. If the status is not NFS_OK, all others may be absent. */
struct nfs_answer {
	uint32_t status;
	struct handle handle; /* LOOKUP, CREATE, MKDIR; version 3 may omit it in the latter two */
	bool has_attributes; /* type and size are present */
	uint32_t type;
	uint64_t size;
	uint32_t count; /* bytes read or written; directory entries */
	const uint8_t *data; /* data read, or a link's target: `count` bytes in the message */
	bool end; /* of the file, or of the directory */
	uint32_t access;
	bool has_verifier;
	uint64_t verifier; /* of WRITE and COMMIT: a new value means a restarted server */
	uint32_t read_max, write_max; /* FSINFO, bytes */
};

struct nfs_protocol {
	uint32_t version;
	/* -1: not in this version */
	int procedures[OPS];
	void (*put)(struct xdr_out *out, const struct nfs_request *request);
	/* False: the message violates the protocol */
	bool (*get)(struct xdr_in *in, enum op op, struct nfs_answer *answer);
};

extern const struct nfs_protocol nfs2, nfs3;

/* The name in JSON: "stale"; "status-N" for numbers outside the protocol. Valid until the next call. */
const char *nfs_status_name(uint32_t status);

#endif
