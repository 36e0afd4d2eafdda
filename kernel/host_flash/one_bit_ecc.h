/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A Hamming code as in NAND drivers: 22 bits for each 256 bytes. It corrects one wrong bit and detects two. Three wrong
 * bits, or any odd number, are mistaken for a single one at another position.
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

/* Returns 0, -EUCLEAN if a bit was corrected, or -EBADMSG if the data cannot be corrected */
int one_bit_ecc_correct(uint8_t *data, uint32_t bytes, const uint8_t *ecc);

#endif
