// SPDX-License-Identifier: Apache-2.0
/* NFS version 2 on the wire (RFC 1094) */
#include <string.h>

#include "nfs.h"

enum { FHSIZE = 32, MAX_PATH = 1024 };

#define NOT_SET UINT32_MAX /* leaves an attribute unchanged */

static void put_handle(struct xdr_out *out, const struct handle *handle)
{
	xdr_put_fixed(out, handle->bytes, FHSIZE);
}

/* Leaves the times unchanged */
static void put_sattr(struct xdr_out *out, uint32_t mode, uint32_t size)
{
	xdr_put_u32(out, mode);
	xdr_put_u32(out, NOT_SET); /* uid */
	xdr_put_u32(out, NOT_SET); /* gid */
	xdr_put_u32(out, size);
	for (int i = 0; i < 4; i++)
		xdr_put_u32(out, NOT_SET);
}

static void put_read(struct xdr_out *out, const struct nfs_request *request)
{
	xdr_put_u32(out, (uint32_t)request->offset);
	xdr_put_u32(out, request->length);
	xdr_put_u32(out, 0); /* totalcount: unused */
}

static void put_write(struct xdr_out *out, const struct nfs_request *request)
{
	xdr_put_u32(out, 0); /* beginoffset: unused */
	xdr_put_u32(out, (uint32_t)request->offset);
	xdr_put_u32(out, 0); /* totalcount: unused */
	xdr_put_opaque(out, request->data, request->length);
}

static void put(struct xdr_out *out, const struct nfs_request *request)
{
	put_handle(out, request->object);
	if (request->name)
		xdr_put_string(out, request->name);
	switch (request->op) {
	case OP_READ:
		put_read(out, request);
		break;
	case OP_WRITE:
		put_write(out, request);
		break;
	case OP_SETATTR:
		put_sattr(out, request->set_size ? NOT_SET : request->mode,
			  request->set_size ? (uint32_t)request->size : NOT_SET);
		break;
	case OP_CREATE:
		put_sattr(out, request->mode, 0);
		break;
	case OP_MKDIR:
		put_sattr(out, request->mode, NOT_SET);
		break;
	case OP_SYMLINK:
		xdr_put_string(out, request->target);
		put_sattr(out, NOT_SET, NOT_SET);
		break;
	case OP_READDIR:
		xdr_put_u32(out, 0); /* cookie: from the first entry on */
		xdr_put_u32(out, NFS_BLOCK);
		break;
	default:
		break;
	}
}

static void get_handle(struct xdr_in *in, struct handle *handle)
{
	const uint8_t *bytes = xdr_get_fixed(in, FHSIZE);

	if (!bytes)
		return;
	handle->length = FHSIZE;
	memcpy(handle->bytes, bytes, FHSIZE);
}

/* type, mode, nlink, uid, gid, size, then eleven more */
static void get_attributes(struct xdr_in *in, struct nfs_answer *answer)
{
	answer->type = xdr_get_u32(in);
	xdr_get_fixed(in, 4 * 4);
	answer->size = xdr_get_u32(in);
	xdr_get_fixed(in, 11 * 4);
	answer->has_attributes = !in->bad;
}

static void get_entries(struct xdr_in *in, struct nfs_answer *answer)
{
	uint32_t length;

	while (xdr_get_bool(in)) {
		xdr_get_u32(in);
		xdr_get_opaque(in, MAX_NAME, &length);
		xdr_get_u32(in);
		answer->count++;
	}
	answer->end = xdr_get_bool(in);
}

static void get_results(struct xdr_in *in, enum op op, struct nfs_answer *answer)
{
	switch (op) {
	case OP_LOOKUP:
	case OP_CREATE:
	case OP_MKDIR:
		get_handle(in, &answer->handle);
		get_attributes(in, answer);
		break;
	case OP_GETATTR:
	case OP_SETATTR:
	case OP_WRITE:
		get_attributes(in, answer);
		break;
	case OP_READ:
		get_attributes(in, answer);
		answer->data = xdr_get_opaque(in, NFS_BLOCK, &answer->count);
		break;
	case OP_READLINK:
		answer->data = xdr_get_opaque(in, MAX_PATH, &answer->count);
		break;
	case OP_READDIR:
		get_entries(in, answer);
		break;
	case OP_FSSTAT:
		xdr_get_fixed(in, 5 * 4);
		break;
	default: /* REMOVE and SYMLINK return a status only */
		break;
	}
}

static bool get(struct xdr_in *in, enum op op, struct nfs_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->status = xdr_get_u32(in);
	if (!in->bad && answer->status == NFS_OK)
		get_results(in, op, answer);
	return !in->bad && in->used == in->size;
}

const struct nfs_protocol nfs2 = {
	.version = 2,
	.procedures = {
		[OP_GETATTR] = 1, [OP_SETATTR] = 2, [OP_LOOKUP] = 4, [OP_READLINK] = 5, [OP_READ] = 6, [OP_WRITE] = 8,
		[OP_CREATE] = 9, [OP_REMOVE] = 10, [OP_SYMLINK] = 13, [OP_MKDIR] = 14, [OP_READDIR] = 16,
		[OP_FSSTAT] = 17, [OP_READDIRPLUS] = -1, [OP_ACCESS] = -1, [OP_COMMIT] = -1, [OP_FSINFO] = -1,
	},
	.put = put,
	.get = get,
};
