/* SPDX-License-Identifier: Apache-2.0 */
/* One request and one answer of NFS, whatever the version: nfs2.c and nfs3.c know what they look like on the wire */
#ifndef NFS_H
#define NFS_H

#include "ops.h"
#include "rpc.h"
#include "xdr.h"

enum {
	NFS_BLOCK = 8192, /* bytes that a READ or a WRITE moves at most, and that a directory's listing takes */
	MAX_HANDLE = 64,
	MAX_NAME = 255,
};

enum nfs_type { NFS_FILE = 1, NFS_DIRECTORY = 2, NFS_LINK = 5 };

/* Numbers of the protocol that a caller looks at; nfs_status_name() knows the rest */
enum nfs_status { NFS_OK = 0, NFS_NO_ENTRY = 2, NFS_EXISTS = 17 };

/* ACCESS asks for these: read and modify */
enum { NFS_ACCESS_ASKED = 0x01 | 0x04 };

struct handle {
	uint32_t length; /* bytes; 0: none */
	uint8_t bytes[MAX_HANDLE];
};

struct nfs_request {
	enum op op;
	const struct handle *object; /* what is asked of; of a name, its directory */
	const char *name;
	const char *target; /* where a link leads */
	uint64_t offset; /* bytes */
	uint32_t length; /* bytes, at most NFS_BLOCK */
	const uint8_t *data; /* what is written, `length` bytes */
	bool stable; /* a write is on the medium when it is answered (version 2 has no other) */
	uint32_t mode; /* of what is made; SETATTR */
	bool set_size; /* SETATTR sets the size only, to `size` */
	uint64_t size;
};

/* What is not in an answer is 0. On a status other than NFS_OK all else may be missing. */
struct nfs_answer {
	uint32_t status;
	struct handle handle; /* LOOKUP, CREATE, MKDIR; version 3 may leave it out of the latter two */
	bool has_attributes; /* type and size are there */
	uint32_t type;
	uint64_t size;
	uint32_t count; /* bytes read or written; entries of a directory */
	const uint8_t *data; /* read, or a link's target: `count` bytes in the message */
	bool end; /* of the file, or of the directory */
	uint32_t access;
	bool has_verifier;
	uint64_t verifier; /* of WRITE and COMMIT: another one, another life of the server */
	uint32_t read_max, write_max; /* FSINFO, bytes */
};

struct nfs_protocol {
	uint32_t version;
	/* -1: there is none of this kind in this version */
	int procedures[OPS];
	void (*put)(struct xdr_out *out, const struct nfs_request *request);
	/* False: the message is not what the protocol says it is */
	bool (*get)(struct xdr_in *in, enum op op, struct nfs_answer *answer);
};

extern const struct nfs_protocol nfs2, nfs3;

/* As JSON has it: "stale"; "status-N" of a number that is not of the protocol. The text is good until the next call. */
const char *nfs_status_name(uint32_t status);

#endif
