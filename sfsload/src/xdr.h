/* SPDX-License-Identifier: Apache-2.0 */
/* XDR (RFC 4506): numbers and bytes to and from a message. All lengths are bytes; what is padded is padded to four. */
#ifndef XDR_H
#define XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xdr_out {
	uint8_t *bytes;
	size_t size, used;
	bool full; /* something did not fit; nothing is written from then on */
};

struct xdr_in {
	const uint8_t *bytes;
	size_t size, used;
	bool bad; /* the message is shorter than what was asked of it, or breaks a limit; all is 0 from then on */
};

void xdr_put_u32(struct xdr_out *out, uint32_t value);
void xdr_put_u64(struct xdr_out *out, uint64_t value);
/* Opaque data of a length that both sides know */
void xdr_put_fixed(struct xdr_out *out, const void *bytes, size_t length);
/* Its length before it */
void xdr_put_opaque(struct xdr_out *out, const void *bytes, size_t length);
void xdr_put_string(struct xdr_out *out, const char *text);

uint32_t xdr_get_u32(struct xdr_in *in);
uint64_t xdr_get_u64(struct xdr_in *in);
/* 0 or 1; another number is bad */
bool xdr_get_bool(struct xdr_in *in);
/* Points into the message; NULL if it is bad */
const uint8_t *xdr_get_fixed(struct xdr_in *in, size_t length);
const uint8_t *xdr_get_opaque(struct xdr_in *in, size_t max, uint32_t *length);

#endif
