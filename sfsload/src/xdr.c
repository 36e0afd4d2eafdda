// SPDX-License-Identifier: Apache-2.0
/* XDR (RFC 4506) */
#include <string.h>

#include "xdr.h"

static size_t padded(size_t length)
{
	return (length + 3) & ~(size_t)3;
}

static uint8_t *room(struct xdr_out *out, size_t length)
{
	uint8_t *at = out->bytes + out->used;

	if (out->full || length > out->size - out->used) {
		out->full = true;
		return NULL;
	}
	out->used += length;
	return at;
}

void xdr_put_u32(struct xdr_out *out, uint32_t value)
{
	uint8_t *at = room(out, 4);

	for (int i = 0; at && i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

void xdr_put_u64(struct xdr_out *out, uint64_t value)
{
	xdr_put_u32(out, (uint32_t)(value >> 32));
	xdr_put_u32(out, (uint32_t)value);
}

void xdr_put_fixed(struct xdr_out *out, const void *bytes, size_t length)
{
	uint8_t *at = room(out, padded(length));

	if (!at)
		return;
	if (length)
		memcpy(at, bytes, length);
	memset(at + length, 0, padded(length) - length);
}

void xdr_put_opaque(struct xdr_out *out, const void *bytes, size_t length)
{
	xdr_put_u32(out, (uint32_t)length);
	xdr_put_fixed(out, bytes, length);
}

void xdr_put_string(struct xdr_out *out, const char *text)
{
	xdr_put_opaque(out, text, strlen(text));
}

const uint8_t *xdr_get_fixed(struct xdr_in *in, size_t length)
{
	const uint8_t *at = in->bytes + in->used;

	if (in->bad || padded(length) > in->size - in->used) {
		in->bad = true;
		return NULL;
	}
	in->used += padded(length);
	return at;
}

uint32_t xdr_get_u32(struct xdr_in *in)
{
	const uint8_t *at = xdr_get_fixed(in, 4);

	return at ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3] : 0;
}

uint64_t xdr_get_u64(struct xdr_in *in)
{
	uint64_t high = xdr_get_u32(in);

	return high << 32 | xdr_get_u32(in);
}

bool xdr_get_bool(struct xdr_in *in)
{
	uint32_t value = xdr_get_u32(in);

	if (value > 1)
		in->bad = true;
	return value == 1 && !in->bad;
}

const uint8_t *xdr_get_opaque(struct xdr_in *in, size_t max, uint32_t *length)
{
	const uint8_t *at;

	*length = xdr_get_u32(in);
	if (*length > max)
		in->bad = true;
	at = xdr_get_fixed(in, in->bad ? 0 : *length);
	if (in->bad)
		*length = 0;
	return in->bad ? NULL : at;
}
