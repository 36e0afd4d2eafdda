/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A Hamming code as NAND drivers have it: of each 256 bytes 22 bits, which correct one wrong bit and notice two. Three
 * are taken for one, somewhere else; so is any odd number.
 */
#ifndef ONE_BIT_ECC_H
#define ONE_BIT_ECC_H

#include <stdint.h>

enum { ONE_BIT_ECC_PIECE = 256, ONE_BIT_ECC_BYTES = 3 };

static inline uint32_t one_bit_ecc_bytes(uint32_t data_bytes)
{
	return data_bytes / ONE_BIT_ECC_PIECE * ONE_BIT_ECC_BYTES;
}

void one_bit_ecc(const uint8_t *data, uint32_t bytes, uint8_t *ecc);

/* 0, -EUCLEAN if something was corrected, -EBADMSG */
int one_bit_ecc_correct(uint8_t *data, uint32_t bytes, const uint8_t *ecc);

#endif
