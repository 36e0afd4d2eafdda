// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ECC of packed tags 2: a Hamming code over 16 bytes, of the SmartMedia family.
 *
 * Column parity: six bits, two for each bit of a bit's number in its byte (0 to 7): the lower of a
 * pair is the parity of all bits where that number's bit is 0, the upper where it is 1. Line
 * parity: the numbers of all bytes of odd parity, XORed; and the same of their complements (32
 * bits). One wrong bit: each pair differs in exactly one, and the ones spell its place.
 */
#include "tags.h"

static u32 parity(u32 byte)
{
	return hweight8(byte) & 1;
}

void y2_tags_ecc(const u8 *tags, struct y2_tags_ecc *ecc)
{
	u32 all = 0;

	*ecc = (struct y2_tags_ecc) { 0, 0, 0 };
	for (u32 i = 0; i < Y2_TAGS_BYTES; i++) {
		all ^= tags[i];
		if (parity(tags[i])) {
			ecc->line ^= i;
			ecc->line_complement ^= ~i;
		}
	}
	ecc->column = parity(all & 0x55) | parity(all & 0xaa) << 1 | parity(all & 0x33) << 2 |
		      parity(all & 0xcc) << 3 | parity(all & 0x0f) << 4 | parity(all & 0xf0) << 5;
}
