// SPDX-License-Identifier: Apache-2.0
/* NFS version 3 on the wire (RFC 1813) */
#include <string.h>

#include "nfs.h"

enum {
	MAX_PATH = 4096,
	UNCHECKED = 0, /* of CREATE: an existing file stays */
	UNSTABLE = 0,
	FILE_SYNC = 2,
	NO_TIME = 0, /* of SETATTR: leaves the time unchanged */
};

static void put_handle(struct xdr_out *out, const struct handle *handle)
{
	xdr_put_opaque(out, handle->bytes, handle->length);
}

static void put_sattr(struct xdr_out *out, bool set_mode, uint32_t mode, bool set_size, uint64_t size)
{
	xdr_put_u32(out, set_mode);
	if (set_mode)
		xdr_put_u32(out, mode);
	xdr_put_u32(out, 0); /* uid */
	xdr_put_u32(out, 0); /* gid */
	xdr_put_u32(out, set_size);
	if (set_size)
		xdr_put_u64(out, size);
	xdr_put_u32(out, NO_TIME);
	xdr_put_u32(out, NO_TIME);
}

static void put_write(struct xdr_out *out, const struct nfs_request *request)
{
	xdr_put_u64(out, request->offset);
	xdr_put_u32(out, request->length);
	xdr_put_u32(out, request->stable ? FILE_SYNC : UNSTABLE);
	xdr_put_opaque(out, request->data, request->length);
}

/* From the first entry on */
static void put_readdir(struct xdr_out *out, bool plus)
{
	xdr_put_u64(out, 0); /* cookie */
	xdr_put_u64(out, 0); /* its verifier */
	xdr_put_u32(out, NFS_BLOCK);
	if (plus)
		xdr_put_u32(out, NFS_BLOCK);
}

static void put(struct xdr_out *out, const struct nfs_request *request)
{
	put_handle(out, request->object);
	if (request->name)
		xdr_put_string(out, request->name);
	switch (request->op) {
	case OP_READ:
		xdr_put_u64(out, request->offset);
		xdr_put_u32(out, request->length);
		break;
	case OP_WRITE:
		put_write(out, request);
		break;
	case OP_SETATTR:
		put_sattr(out, !request->set_size, request->mode, request->set_size, request->size);
		xdr_put_u32(out, 0); /* no guard */
		break;
	case OP_CREATE:
		xdr_put_u32(out, UNCHECKED);
		put_sattr(out, true, request->mode, true, 0);
		break;
	case OP_MKDIR:
		put_sattr(out, true, request->mode, false, 0);
		break;
	case OP_SYMLINK:
		put_sattr(out, false, 0, false, 0);
		xdr_put_string(out, request->target);
		break;
	case OP_READDIR:
	case OP_READDIRPLUS:
		put_readdir(out, request->op == OP_READDIRPLUS);
		break;
	case OP_ACCESS:
		xdr_put_u32(out, NFS_ACCESS_ASKED);
		break;
	case OP_COMMIT:
		xdr_put_u64(out, 0);
		xdr_put_u32(out, 0); /* all of the file */
		break;
	default:
		break;
	}
}

static void get_handle(struct xdr_in *in, struct handle *handle)
{
	uint32_t length;
	const uint8_t *bytes = xdr_get_opaque(in, MAX_HANDLE, &length);

	if (!bytes)
		return;
	handle->length = length;
	memcpy(handle->bytes, bytes, length);
}

/* type, mode, nlink, uid, gid, size, then 56 more bytes */
static void get_attributes(struct xdr_in *in, struct nfs_answer *answer)
{
	answer->type = xdr_get_u32(in);
	xdr_get_fixed(in, 4 * 4);
	answer->size = xdr_get_u64(in);
	xdr_get_fixed(in, 56);
	answer->has_attributes = !in->bad;
}

/* The attributes of the request's object */
static void get_post_op(struct xdr_in *in, struct nfs_answer *answer)
{
	if (xdr_get_bool(in))
		get_attributes(in, answer);
}

/* The attributes of another object, such as its directory */
static void skip_post_op(struct xdr_in *in)
{
	struct nfs_answer other;

	get_post_op(in, &other);
}

static void skip_before(struct xdr_in *in)
{
	if (xdr_get_bool(in))
		xdr_get_fixed(in, 24);
}

static void get_verifier(struct xdr_in *in, struct nfs_answer *answer)
{
	answer->verifier = xdr_get_u64(in);
	answer->has_verifier = !in->bad;
}

static void get_made(struct xdr_in *in, struct nfs_answer *answer)
{
	if (xdr_get_bool(in))
		get_handle(in, &answer->handle);
	get_post_op(in, answer);
	skip_before(in);
	skip_post_op(in);
}

static void get_entries(struct xdr_in *in, bool plus, struct nfs_answer *answer)
{
	struct handle unused;
	uint32_t length;

	xdr_get_u64(in); /* the cookies' verifier */
	while (xdr_get_bool(in)) {
		xdr_get_u64(in);
		xdr_get_opaque(in, MAX_NAME, &length);
		xdr_get_u64(in);
		if (plus) {
			skip_post_op(in);
			if (xdr_get_bool(in))
				get_handle(in, &unused);
		}
		answer->count++;
	}
	answer->end = xdr_get_bool(in);
}

static void get_read(struct xdr_in *in, struct nfs_answer *answer)
{
	uint32_t length;

	answer->count = xdr_get_u32(in);
	answer->end = xdr_get_bool(in);
	answer->data = xdr_get_opaque(in, NFS_BLOCK, &length);
	if (length != answer->count)
		in->bad = true;
}

/* What follows the status and the attributes that all answers of these operations begin with */
static void get_results(struct xdr_in *in, enum op op, struct nfs_answer *answer)
{
	switch (op) {
	case OP_READ:
		get_read(in, answer);
		break;
	case OP_WRITE:
		answer->count = xdr_get_u32(in);
		xdr_get_u32(in); /* the stability */
		get_verifier(in, answer);
		break;
	case OP_COMMIT:
		get_verifier(in, answer);
		break;
	case OP_READLINK:
		answer->data = xdr_get_opaque(in, MAX_PATH, &answer->count);
		break;
	case OP_ACCESS:
		answer->access = xdr_get_u32(in);
		break;
	case OP_READDIR:
	case OP_READDIRPLUS:
		get_entries(in, op == OP_READDIRPLUS, answer);
		break;
	case OP_FSSTAT:
		xdr_get_fixed(in, 6 * 8 + 4);
		break;
	case OP_FSINFO:
		answer->read_max = xdr_get_u32(in);
		xdr_get_fixed(in, 2 * 4);
		answer->write_max = xdr_get_u32(in);
		xdr_get_fixed(in, 3 * 4 + 8 + 8 + 4);
		break;
	default:
		break;
	}
}

/* What is between the status and the results, or follows the status of a failed operation */
static void get_before_results(struct xdr_in *in, enum op op, struct nfs_answer *answer)
{
	switch (op) {
	case OP_SETATTR:
	case OP_WRITE:
	case OP_COMMIT:
		skip_before(in);
		get_post_op(in, answer);
		break;
	case OP_CREATE:
	case OP_MKDIR:
	case OP_SYMLINK:
	case OP_REMOVE:
		skip_before(in);
		skip_post_op(in);
		break;
	case OP_LOOKUP:
		skip_post_op(in);
		break;
	default:
		get_post_op(in, answer);
	}
}

static bool get(struct xdr_in *in, enum op op, struct nfs_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->status = xdr_get_u32(in);
	if (in->bad)
		return false;
	if (answer->status == NFS_OK && op == OP_GETATTR) {
		get_attributes(in, answer);
	} else if (answer->status == NFS_OK && op == OP_LOOKUP) {
		get_handle(in, &answer->handle);
		get_post_op(in, answer);
		skip_post_op(in);
	} else if (answer->status == NFS_OK && (op == OP_CREATE || op == OP_MKDIR || op == OP_SYMLINK)) {
		get_made(in, answer);
	} else if (op != OP_GETATTR) {
		get_before_results(in, op, answer);
		if (answer->status == NFS_OK)
			get_results(in, op, answer);
	}
	return !in->bad && in->used == in->size;
}

const struct nfs_protocol nfs3 = {
	.version = 3,
	.procedures = {
		[OP_GETATTR] = 1, [OP_SETATTR] = 2, [OP_LOOKUP] = 3, [OP_ACCESS] = 4, [OP_READLINK] = 5, [OP_READ] = 6,
		[OP_WRITE] = 7, [OP_CREATE] = 8, [OP_MKDIR] = 9, [OP_SYMLINK] = 10, [OP_REMOVE] = 12,
		[OP_READDIR] = 16, [OP_READDIRPLUS] = 17, [OP_FSSTAT] = 18, [OP_FSINFO] = 19, [OP_COMMIT] = 21,
	},
	.put = put,
	.get = get,
};
