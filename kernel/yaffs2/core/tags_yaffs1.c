// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tags of pages of 512 bytes, in YAFFS1's layout: 8 bytes. From the lowest bit: chunk_id 20,
 * serial number 2, n_bytes 10, obj_id 18, ECC 12, deleted 1, unused 1. The ECC is the XOR of the
 * numbers (from 1) of all set bits, with its own field zero and "deleted" one. It corrects one bit,
 * except for its own lower seven, which look like tag bits.
 *
 * A page is marked deleted by programming its spare area a second time, with "deleted" zero. Other
 * implementations leave the unused bit zero from the start, and clear the one bit only. We set it,
 * and clear it with the mark, so that a page revived by a torn erase is detected. Its number is 64,
 * the only one with bit 6 of the ECC. The mark clears that bit too, so the ECC stays right for
 * other drivers.
 */
#include "tags.h"

#define SERIAL_SHIFT	20
#define BYTES_SHIFT	22
#define ECC_SHIFT	18
#define ECC_MASK	0xfffu
#define DELETED		(1u << 30)	/* of the second word; zero: deleted */
#define UNUSED		(1u << 31)
#define ECC_OF_UNUSED	(1u << (ECC_SHIFT + 6))
#define TAG_BITS	64u
#define CHUNK_MASK	0xfffffu
#define OBJECT_MASK	0x3ffffu
#define BYTES_MASK	0x3ffu
#define MAX_BYTES	512u
#define HEADER_BYTES	1023u		/* of headers by image makers: all ones */
#define MAX_FLIPPED_BITS 2u		/* of an erased page's tags, assumed */

/*
 * Bit j of the XOR: the parity of those bits whose number, one more than their place, has bit j set
 */
static u32 ecc_of(u32 low, u32 high)
{
	static const u64 with_bit[6] = {
		0x5555555555555555ull, 0x6666666666666666ull, 0x7878787878787878ull,
		0x7f807f807f807f80ull, 0x7fff80007fff8000ull, 0x7fffffff80000000ull,
	};
	u64 bits = low | (u64)high << 32;
	u32 ecc = (u32)(bits >> 63) << 6;

	for (u32 j = 0; j < 6; j++)
		ecc |= (hweight64(bits & with_bit[j]) & 1) << j;
	return ecc;
}

void y2_tags_yaffs1_pack(const struct y2_tags *tags, u8 *out)
{
	u32 low = tags->chunk | (u32)tags->serial << SERIAL_SHIFT | tags->bytes << BYTES_SHIFT;
	u32 high = tags->object | DELETED | UNUSED;

	put_unaligned_le32(low, out);
	put_unaligned_le32(high | ecc_of(low, high) << ECC_SHIFT, out + 4);
}

/* Deletes any tags if it is programmed on top of them */
void y2_tags_yaffs1_mark(u8 *out)
{
	put_unaligned_le32(0xffffffffu, out);
	put_unaligned_le32(~(DELETED | UNUSED | ECC_OF_UNUSED), out + 4);
}

static bool looks_erased(u32 low, u32 high)
{
	return hweight32(~low) + hweight32(~high) <= MAX_FLIPPED_BITS;
}

/* The number of the wrong bit; 0: none; more than TAG_BITS: more than one */
static u32 wrong_bit(u32 low, u32 high)
{
	return ecc_of(low, high & ~(ECC_MASK << ECC_SHIFT)) ^ (high >> ECC_SHIFT & ECC_MASK);
}

/* Torn tags often look corrected, so they must be plausible, too */
static bool makes_sense(const struct y2_tags *tags)
{
	return tags->object &&
	       (tags->bytes <= MAX_BYTES || (!tags->chunk && tags->bytes == HEADER_BYTES));
}

enum y2_read y2_tags_yaffs1_unpack(const u8 *in, struct y2_tags *tags)
{
	u32 low = get_unaligned_le32(in), high = get_unaligned_le32(in + 4), wrong;
	enum y2_read result = Y2_READ_CLEAN;
	bool marked;

	*tags = (struct y2_tags) { .used = false };
	if (looks_erased(low, high))
		return Y2_READ_CLEAN;
	marked = !(high & DELETED);
	high |= DELETED;
	wrong = wrong_bit(low, high);
	/* A mark is always valid; the deleted tags are decoded as far as possible */
	if (marked) {
		*tags = (struct y2_tags) { .used = true, .marked = true, .seq = Y2_SEQ_LOWEST };
		if (wrong <= TAG_BITS) {
			tags->object = high & OBJECT_MASK;
			tags->chunk = low & CHUNK_MASK;
		}
		return Y2_READ_CLEAN;
	}
	if (wrong > TAG_BITS)
		return Y2_READ_UNFIXED;
	if (wrong) {
		result = Y2_READ_FIXED;
		if (wrong <= 32)
			low ^= 1u << (wrong - 1);
		else
			high ^= 1u << (wrong - 33);
	}
	*tags = (struct y2_tags){
		.used = true,
		.seq = Y2_SEQ_LOWEST,
		.object = high & OBJECT_MASK,
		.chunk = low & CHUNK_MASK,
		.serial = low >> SERIAL_SHIFT & 3,
		.bytes = low >> BYTES_SHIFT & BYTES_MASK,
		.half_marked = wrong == TAG_BITS, /* the unused bit, or its ECC */
		.unused_clear = !(high & UNUSED),
	};
	if (makes_sense(tags))
		return result;
	*tags = (struct y2_tags) { .used = false };
	return Y2_READ_UNFIXED;
}

/* The fields begin at the highest bit; the ECC counts bytes and bits as here */
bool y2_tags_yaffs1_unpack_swapped(const u8 *in, struct y2_tags *tags)
{
	u32 low = get_unaligned_be32(in), high = get_unaligned_be32(in + 4);
	u32 plain = (high | 2) & ~(ECC_MASK << 2);
	u8 bytes[4] = { (u8)(plain >> 24), (u8)(plain >> 16), (u8)(plain >> 8), (u8)plain };

	*tags = (struct y2_tags){
		.used = true,
		.seq = Y2_SEQ_LOWEST,
		.object = high >> 14,
		.chunk = low >> 12,
		.serial = low >> 10 & 3,
		.bytes = low & BYTES_MASK,
	};
	return ecc_of(get_unaligned_le32(in), get_unaligned_le32(bytes)) ==
		       (high >> 2 & ECC_MASK) &&
	       makes_sense(tags);
}
