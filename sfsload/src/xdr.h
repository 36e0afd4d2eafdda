/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XDR (RFC 4506): encodes and decodes numbers and bytes of a message. All lengths are in bytes; padding is to four
 * bytes.
 */
#ifndef XDR_H
#define XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xdr_out {
	uint8_t *bytes;
	size_t size, used;
	bool full; /* something did not fit; further writes are ignored */
};

struct xdr_in {
	const uint8_t *bytes;
	size_t size, used;
	bool bad; /* the message is too short, or violates a limit; further values are 0 */
};

void xdr_put_u32(struct xdr_out *out, uint32_t value);
void xdr_put_u64(struct xdr_out *out, uint64_t value);
/* Opaque data of fixed length */
void xdr_put_fixed(struct xdr_out *out, const void *bytes, size_t length);
/* Opaque data with its length */
void xdr_put_opaque(struct xdr_out *out, const void *bytes, size_t length);
void xdr_put_string(struct xdr_out *out, const char *text);

uint32_t xdr_get_u32(struct xdr_in *in);
uint64_t xdr_get_u64(struct xdr_in *in);
/* 0 or 1; other numbers are bad */
bool xdr_get_bool(struct xdr_in *in);
/* Points into the message; NULL if it is bad */
const uint8_t *xdr_get_fixed(struct xdr_in *in, size_t length);
const uint8_t *xdr_get_opaque(struct xdr_in *in, size_t max, uint32_t *length);

#endif
