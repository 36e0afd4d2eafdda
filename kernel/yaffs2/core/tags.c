// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packs and unpacks tags of YAFFS2 ("packed tags 2"), with a header's additional fields folded into
 * obj_id, chunk_id and n_bytes.
 */
#include "tags.h"

#define MAX_FLIPPED_BITS 4u /* of an erased page's tags, assumed; more is a page that was written \
			     */

static bool extra_fits(const struct y2_tags *tags)
{
	return tags->extra && !tags->chunk && tags->object <= Y2_ID_MAX &&
	       tags->parent <= Y2_ID_MAX && tags->size < 0xffffffffu;
}

void y2_tags_words(const struct y2_tags *tags, u32 *object, u32 *chunk, u32 *bytes)
{
	*object = tags->object;
	*chunk = tags->chunk;
	*bytes = tags->bytes;
	if (!extra_fits(tags))
		return;
	*object |= (u32)tags->type << Y2_EXTRA_TYPE_SHIFT;
	*chunk = Y2_EXTRA_HEADER | tags->parent;
	if (tags->shrink)
		*chunk |= Y2_EXTRA_SHRINK;
	if (tags->shadows)
		*chunk |= Y2_EXTRA_SHADOWS;
	*bytes = tags->type == Y2_HARDLINK ? tags->equivalent :
		 tags->type == Y2_FILE	   ? (u32)tags->size :
					     0;
}

void y2_tags_from_words(u32 seq, u32 object, u32 chunk, u32 bytes, struct y2_tags *tags)
{
	*tags = (struct y2_tags){
		.used = true, .seq = seq, .object = object, .chunk = chunk, .bytes = bytes
	};
	if (!(chunk & Y2_EXTRA_HEADER))
		return;
	tags->extra = true;
	tags->chunk = 0;
	tags->bytes = 0;
	tags->shrink = chunk & Y2_EXTRA_SHRINK;
	tags->shadows = chunk & Y2_EXTRA_SHADOWS;
	tags->parent = chunk & ~Y2_EXTRA_FLAGS;
	tags->type = object >> Y2_EXTRA_TYPE_SHIFT;
	tags->object = object & ~Y2_EXTRA_FLAGS;
	if (tags->type == Y2_HARDLINK)
		tags->equivalent = bytes;
	else if (tags->type == Y2_FILE)
		tags->size = bytes;
}

void y2_tags_pack(const struct y2_tags *tags, bool with_ecc, u8 *out)
{
	struct y2_tags_ecc ecc;
	u32 object, chunk, bytes;

	y2_tags_words(tags, &object, &chunk, &bytes);
	put_unaligned_le32(tags->seq, out);
	put_unaligned_le32(object, out + 4);
	put_unaligned_le32(chunk, out + 8);
	put_unaligned_le32(bytes, out + 12);
	if (!with_ecc)
		return;
	y2_tags_ecc(out, &ecc);
	put_unaligned_le32(ecc.column, out + 16);
	put_unaligned_le32(ecc.line, out + 20);
	put_unaligned_le32(ecc.line_complement, out + 24);
}

static bool looks_erased(const u8 *in, u32 length)
{
	u32 zeros = 0;

	for (u32 i = 0; i < length; i++)
		zeros += 8 - hweight8(in[i]);
	return zeros <= MAX_FLIPPED_BITS;
}

/* Corrects one bit of the tags, or finds the wrong bit in the ECC */
static enum y2_read correct(u8 *tags, const u8 *stored)
{
	struct y2_tags_ecc is;
	u32 column, line, complement;

	y2_tags_ecc(tags, &is);
	column = (is.column ^ stored[0]) & 0x3f;
	line = is.line ^ get_unaligned_le32(stored + 4);
	complement = is.line_complement ^ get_unaligned_le32(stored + 8);
	if (!column && !line && !complement)
		return Y2_READ_CLEAN;
	if (line == ~complement && line < Y2_TAGS_BYTES &&
	    ((column ^ column >> 1) & 0x15) == 0x15) {
		u32 bit = (column >> 1 & 1) | (column >> 3 & 1) << 1 | (column >> 5 & 1) << 2;

		tags[line] ^= 1u << bit;
		return Y2_READ_FIXED;
	}
	return hweight32(column) + hweight32(line) + hweight32(complement) == 1 ? Y2_READ_FIXED :
										  Y2_READ_UNFIXED;
}

enum y2_read y2_tags_unpack(const u8 *in, bool with_ecc, struct y2_tags *tags)
{
	enum y2_read result = Y2_READ_CLEAN;
	u8 words[Y2_TAGS_BYTES];

	*tags = (struct y2_tags) { .used = false };
	if (looks_erased(in, with_ecc ? Y2_TAGS_TOTAL_BYTES : Y2_TAGS_BYTES))
		return Y2_READ_CLEAN;
	memcpy(words, in, Y2_TAGS_BYTES);
	if (with_ecc)
		result = correct(words, in + Y2_TAGS_BYTES);
	if (result != Y2_READ_UNFIXED)
		y2_tags_from_words(get_unaligned_le32(words), get_unaligned_le32(words + 4),
				   get_unaligned_le32(words + 8), get_unaligned_le32(words + 12),
				   tags);
	return result;
}

/*
 * The ECC covers the bytes as stored; its first word is a single byte. Its other words are in the
 * byte order of the computer, which may differ from that of the tags: drivers have an option for
 * those
 */
static bool swapped_ecc_is_right(const u8 *in)
{
	struct y2_tags_ecc ecc;

	y2_tags_ecc(in, &ecc);
	if ((ecc.column ^ in[16]) & 0x3f)
		return false;
	return (ecc.line == get_unaligned_be32(in + 20) &&
		ecc.line_complement == get_unaligned_be32(in + 24)) ||
	       (ecc.line == get_unaligned_le32(in + 20) &&
		ecc.line_complement == get_unaligned_le32(in + 24));
}

bool y2_tags_unpack_swapped(const u8 *in, bool with_ecc, struct y2_tags *tags)
{
	u8 swapped[Y2_TAGS_BYTES];

	if (with_ecc && !swapped_ecc_is_right(in))
		return false;
	for (u32 i = 0; i < Y2_TAGS_BYTES; i++)
		swapped[i] = in[i ^ 3];
	return y2_tags_unpack(swapped, false, tags) == Y2_READ_CLEAN && tags->used;
}
