// SPDX-License-Identifier: GPL-2.0-only
/* Packs and unpacks tags of pages, with their CRC */
#include "tag.h"

#define PAGE_BITS	21
#define LOST		(1ull << 21)
#define COPIED		(1ull << 22)
#define SEQUENCE_SHIFT	23
#define CRC_SHIFT	56
#define BELOW_CRC	((1ull << CRC_SHIFT) - 1)

static u8 crc_of(u64 word)
{
	u8 crc = 0;
	u32 i;

	for (i = 0; i < CRC_SHIFT; i += 8) {
		u32 bit;

		crc ^= (u8)(word >> i);
		for (bit = 0; bit < 8; bit++)
			crc = crc & 0x80 ? crc << 1 ^ 0x07 : crc << 1;
	}
	return crc;
}

static u64 with_crc(u64 word)
{
	return (word & BELOW_CRC) | (u64)crc_of(word) << CRC_SHIFT;
}

void sftl_encode(const struct sftl_tag *tag, u8 spare[SFTL_SPARE_BYTES])
{
	u64 word = with_crc(tag->page | (tag->lost ? LOST : 0) | (tag->copied ? COPIED : 0) |
			    tag->sequence << SEQUENCE_SHIFT);
	u32 i;

	for (i = 0; i < SFTL_SPARE_BYTES; i++)
		spare[i] = word >> 8 * i;
}

static bool consistent(u64 word)
{
	return with_crc(word) == word;
}

/*
 * Returns the word, possibly with one bit corrected; 0, which is no valid tag, if it is
 * uncorrectable
 */
static u64 correct(u64 word)
{
	u32 bit;

	if (consistent(word))
		return word;
	for (bit = 0; bit < 64; bit++)
		if (consistent(word ^ 1ull << bit))
			return word ^ 1ull << bit;
	return 0;
}

enum sftl_tag_kind sftl_decode(const u8 spare[SFTL_SPARE_BYTES], struct sftl_tag *tag)
{
	u64 word = 0, cleared;
	u32 i;

	for (i = 0; i < SFTL_SPARE_BYTES; i++)
		word |= (u64)spare[i] << 8 * i;
	cleared = ~word;
	if (!(cleared & (cleared - 1)))
		return SFTL_ERASED;
	tag->corrected = !consistent(word);
	word = correct(word) & BELOW_CRC;
	tag->page = word & ((1u << PAGE_BITS) - 1);
	tag->lost = word & LOST;
	tag->copied = word & COPIED;
	tag->sequence = word >> SEQUENCE_SHIFT;
	return tag->sequence ? SFTL_TAGGED : SFTL_ILLEGIBLE;
}
