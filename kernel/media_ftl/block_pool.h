/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Good blocks for the core's blocks. A physical block that fails is marked bad, and a spare takes
 * its place: what the failed one held is copied there, tags and all, so that the core sees nothing
 * of it. Which blocks are spares is not kept on flash: after a restart, those are that hold
 * nothing.
 */
#ifndef SFTL_BLOCK_POOL_H
#define SFTL_BLOCK_POOL_H

#include "layer.h"

/* The functions of struct sftl_flash on blocks of the core; -EROFS when no spare is left */
int sftl_pool_program(struct sftl *layer, u32 block, u32 page, const void *data,
		      const u8 spare[SFTL_SPARE_BYTES]);
int sftl_pool_read(struct sftl *layer, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES]);
int sftl_pool_erase(struct sftl *layer, u32 block);

#endif
