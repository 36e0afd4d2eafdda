// SPDX-License-Identifier: GPL-2.0-only
/* A Hamming code over 256 bytes: a parity for each bit of the position of a wrong bit */
#include <errno.h>

#include "one_bit_ecc.h"

enum { POSITION_BITS = 11, POSITIONS = (1 << POSITION_BITS) - 1 };

/*
 * Returns two XOR sums over the set bits: of their positions, and of their inverted positions. The second equals the
 * first if the number of set bits is even; otherwise it is the inverse of the first.
 */
static uint32_t sums_of(const uint8_t *data)
{
	uint32_t columns = 0, positions = 0, odd, i;

	for (i = 0; i < ONE_BIT_ECC_PIECE; i++) {
		columns ^= data[i];
		if (__builtin_parity(data[i]))
			positions ^= i << 3;
	}
	for (i = 0; i < 8; i++)
		if (columns >> i & 1)
			positions ^= i;
	odd = __builtin_parity(columns);
	return positions | (odd ? positions ^ POSITIONS : positions) << POSITION_BITS;
}

/* The code is inverted, so that an erased page has a valid code */
void one_bit_ecc(const uint8_t *data, uint32_t bytes, uint8_t *ecc)
{
	for (; bytes; bytes -= ONE_BIT_ECC_PIECE, data += ONE_BIT_ECC_PIECE, ecc += ONE_BIT_ECC_BYTES) {
		uint32_t sums = ~sums_of(data);

		ecc[0] = sums;
		ecc[1] = sums >> 8;
		ecc[2] = sums >> 16 | 0xc0;
	}
}

static int correct_piece(uint8_t *data, const uint8_t *ecc)
{
	uint32_t stored = ~(ecc[0] | ecc[1] << 8 | (uint32_t)ecc[2] << 16) & ((1 << 2 * POSITION_BITS) - 1);
	uint32_t differ = stored ^ sums_of(data);
	uint32_t position = differ & POSITIONS;

	if (!differ)
		return 0;
	if ((position ^ differ >> POSITION_BITS) == POSITIONS) {
		data[position / 8] ^= 1 << position % 8;
		return -EUCLEAN;
	}
	return differ & (differ - 1) ? -EBADMSG : -EUCLEAN;	/* a single bit of the code itself */
}

int one_bit_ecc_correct(uint8_t *data, uint32_t bytes, const uint8_t *ecc)
{
	int worst = 0;

	for (; bytes; bytes -= ONE_BIT_ECC_PIECE, data += ONE_BIT_ECC_PIECE, ecc += ONE_BIT_ECC_BYTES) {
		int err = correct_piece(data, ecc);

		if (err == -EBADMSG || !worst)
			worst = err;
	}
	return worst;
}
