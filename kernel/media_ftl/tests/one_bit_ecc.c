// SPDX-License-Identifier: GPL-2.0-only
#include "one_bit_ecc.h"

enum { POSITION_BITS = 11, POSITIONS = (1 << POSITION_BITS) - 1 };

/*
 * Of the bits that are set: the positions, and the inverted positions, each added up without carry. The latter are those
 * of the former if the bits are even in number, else all others.
 */
static u32 sums_of(const u8 *data)
{
	u32 columns = 0, positions = 0, odd, i;

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

/* Inverted, so that an erased page has its right code */
void one_bit_ecc(const u8 *data, u32 bytes, u8 *ecc)
{
	for (; bytes; bytes -= ONE_BIT_ECC_PIECE, data += ONE_BIT_ECC_PIECE, ecc += ONE_BIT_ECC_BYTES) {
		u32 sums = ~sums_of(data);

		ecc[0] = sums;
		ecc[1] = sums >> 8;
		ecc[2] = sums >> 16 | 0xc0;
	}
}

static int correct_piece(u8 *data, const u8 *ecc)
{
	u32 stored = ~(ecc[0] | ecc[1] << 8 | (u32)ecc[2] << 16) & ((1 << 2 * POSITION_BITS) - 1);
	u32 differ = stored ^ sums_of(data);
	u32 position = differ & POSITIONS;

	if (!differ)
		return 0;
	if ((position ^ differ >> POSITION_BITS) == POSITIONS) {
		data[position / 8] ^= 1 << position % 8;
		return -EUCLEAN;
	}
	return differ & (differ - 1) ? -EBADMSG : -EUCLEAN;	/* a single bit of the code itself */
}

int one_bit_ecc_correct(u8 *data, u32 bytes, const u8 *ecc)
{
	int worst = 0;

	for (; bytes; bytes -= ONE_BIT_ECC_PIECE, data += ONE_BIT_ECC_PIECE, ecc += ONE_BIT_ECC_BYTES) {
		int err = correct_piece(data, ecc);

		if (err == -EBADMSG || !worst)
			worst = err;
	}
	return worst;
}
