/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface between the core's layers and real flash; see layer.h. */
#ifndef SFTL_SOFT_NAND_H
#define SFTL_SOFT_NAND_H

#include "../../media/src/array.h"
#include "layer.h"
#include "tag.h"

/* The core's medium follows the layer's own record directly, so each can find the other */
#define SFTL_HEADER_BYTES ((sizeof(struct sftl) + 63) / 64 * 64)

static inline struct sftl *sftl_of(struct fb_medium *m)
{
	return (struct sftl *)((u8 *)m - SFTL_HEADER_BYTES);
}

/* The array given to the core's layers */
extern const struct fb_array sftl_array;

/* Programs a page of a block of the core, with the next sequence number */
int sftl_program(struct sftl *layer, u32 ppn, u32 page, bool copied, bool lost, const void *data);

#endif
