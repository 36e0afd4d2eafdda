/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converts between the bytes of a request and pages of the layer. A page written as a whole goes to
 * the layer without a copy. Pieces of a page are gathered first, and the missing bytes are read.
 */
#ifndef SFTL_TRANSFER_H
#define SFTL_TRANSFER_H

#include "layer.h"

/*
 * The gathered pieces of a page: one run of bytes. It is programmed at the end of the request, or
 * when the next page begins. Nothing is kept beyond the request.
 */
struct sftl_transfer {
	struct sftl *layer;
	u8 *data;			/* a page */
	u8 *rest;			/* a page: the bytes around the run */
	u32 page;
	u32 begin;
	u32 end;			/* begin == end: empty */
};

/*
 * Transfers the next bytes of a request, in order. Returns an errno for the first page that failed,
 * which ends the request.
 */
int sftl_transfer(struct sftl_transfer *t, bool write, u64 offset, u8 *bytes, u32 length);

/*
 * Ends a request with the result so far. Writes the gathered bytes, or drops them if a part of the
 * request failed. Returns the overall result.
 */
int sftl_transfer_end(struct sftl_transfer *t, int err);

#endif
