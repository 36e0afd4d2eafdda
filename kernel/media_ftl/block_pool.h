/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Good blocks for the core's blocks. A physical block that fails is marked bad, and a spare
 * replaces it. The failed block's content is copied to the spare, tags included, so that the core
 * does not notice. The list of spares is not on flash: after a restart, the spares are the empty
 * blocks.
 */
#ifndef SFTL_BLOCK_POOL_H
#define SFTL_BLOCK_POOL_H

#include "layer.h"

/* The functions of struct sftl_flash on blocks of the core; -EROFS if no spare is left */
int sftl_pool_program(struct sftl *layer, u32 block, u32 page, const void *data,
		      const u8 spare[SFTL_SPARE_BYTES]);
int sftl_pool_read(struct sftl *layer, u32 block, u32 page, void *data, u8 spare[SFTL_SPARE_BYTES]);
int sftl_pool_erase(struct sftl *layer, u32 block);

#endif
