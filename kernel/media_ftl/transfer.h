/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes of a request to pages of the layer and back. A page that the host writes as a whole goes to
 * the layer from where it is; pieces of a page are gathered first, and what is missing is read.
 */
#ifndef SFTL_TRANSFER_H
#define SFTL_TRANSFER_H

#include "layer.h"

/*
 * What the host writes into a page piece by piece, until it is programmed at the end of the request
 * or when the next page comes: one run of bytes of one page. Nothing of it outlives its request.
 */
struct sftl_transfer {
	struct sftl *layer;
	u8 *data;			/* a page */
	u8 *rest;			/* a page: what lies around the run */
	u32 page;
	u32 begin;
	u32 end;			/* begin == end: nothing is gathered */
};

/*
 * The bytes of a request, in order. An errno, of the first page that failed: then the request is
 * over.
 */
int sftl_transfer(struct sftl_transfer *t, bool write, u64 offset, u8 *bytes, u32 length);

/*
 * The request is over, with this result so far: what is gathered is written, or forgotten if a part
 * of the request failed. The result of the whole.
 */
int sftl_transfer_end(struct sftl_transfer *t, int err);

#endif
