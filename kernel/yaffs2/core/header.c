// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packs and unpacks object headers. Unused fields are all ones, like erased flash. A header has no
 * checksum: the data's ECC protects it.
 */
#include "header.h"

#define NO_SIZE	0xffffffffu

void y2_header_pack(const struct y2_header *header, u8 *out)
{
	memset(out, 0xff, Y2_HEADER_BYTES);
	put_unaligned_le32(header->type, out + Y2_OH_TYPE);
	put_unaligned_le32(header->parent, out + Y2_OH_PARENT);
	memset(out + Y2_OH_NAME, 0, Y2_NAME_MAX + 1);
	memcpy(out + Y2_OH_NAME, header->name, strlen(header->name));
	put_unaligned_le32(header->mode, out + Y2_OH_MODE);
	put_unaligned_le32(header->uid, out + Y2_OH_UID);
	put_unaligned_le32(header->gid, out + Y2_OH_GID);
	put_unaligned_le32(header->atime, out + Y2_OH_ATIME);
	put_unaligned_le32(header->mtime, out + Y2_OH_MTIME);
	put_unaligned_le32(header->ctime, out + Y2_OH_CTIME);
	if (header->type == Y2_FILE) {
		put_unaligned_le32((u32)header->size, out + Y2_OH_SIZE_LOW);
		put_unaligned_le32((u32)(header->size >> 32), out + Y2_OH_SIZE_HIGH);
	}
	if (header->type == Y2_HARDLINK)
		put_unaligned_le32(header->equivalent, out + Y2_OH_EQUIVALENT);
	if (header->type == Y2_SYMLINK) {
		memset(out + Y2_OH_ALIAS, 0, Y2_ALIAS_MAX + 1);
		memcpy(out + Y2_OH_ALIAS, header->alias, strlen(header->alias));
	}
	put_unaligned_le32(header->type == Y2_SPECIAL ? header->rdev : 0, out + Y2_OH_RDEV);
	put_unaligned_le32(header->shadows, out + Y2_OH_INBAND_SHADOWS);
	put_unaligned_le32(header->shrink, out + Y2_OH_INBAND_SHRINK);
	put_unaligned_le32(header->shadows, out + Y2_OH_SHADOWS);
	put_unaligned_le32(header->shrink, out + Y2_OH_SHRINK);
}

/* Copies a field of max + 1 bytes; false if it is not terminated */
static bool copy_text(char *to, const u8 *from, u32 max)
{
	size_t length = strnlen((const char *)from, max + 1);

	if (length > max)
		return false;
	memcpy(to, from, length);
	return true;
}

static u32 id_or_none(const u8 *field)
{
	u32 id = get_unaligned_le32(field);

	return id <= Y2_ID_MAX ? id : 0;
}

bool y2_header_unpack(const u8 *in, struct y2_header *header)
{
	u32 high = get_unaligned_le32(in + Y2_OH_SIZE_HIGH);

	memset(header, 0, sizeof(*header));
	if (!get_unaligned_le32(in + Y2_OH_TYPE) || get_unaligned_le32(in + Y2_OH_TYPE) >= Y2_TYPES)
		return false;
	header->type = get_unaligned_le32(in + Y2_OH_TYPE);
	header->parent = get_unaligned_le32(in + Y2_OH_PARENT);
	if (!copy_text(header->name, in + Y2_OH_NAME, Y2_NAME_MAX))
		return false;
	header->mode = get_unaligned_le32(in + Y2_OH_MODE);
	header->uid = get_unaligned_le32(in + Y2_OH_UID);
	header->gid = get_unaligned_le32(in + Y2_OH_GID);
	header->atime = get_unaligned_le32(in + Y2_OH_ATIME);
	header->mtime = get_unaligned_le32(in + Y2_OH_MTIME);
	header->ctime = get_unaligned_le32(in + Y2_OH_CTIME);
	if (header->type == Y2_FILE)
		header->size = get_unaligned_le32(in + Y2_OH_SIZE_LOW) |
			       (u64)(high == NO_SIZE ? 0 : high) << 32;
	if (header->type == Y2_HARDLINK)
		header->equivalent = get_unaligned_le32(in + Y2_OH_EQUIVALENT);
	/* In the longest alias, other drivers leave the last byte unchanged */
	if (header->type == Y2_SYMLINK && !copy_text(header->alias, in + Y2_OH_ALIAS, Y2_ALIAS_MAX))
		memcpy(header->alias, in + Y2_OH_ALIAS, Y2_ALIAS_MAX);
	if (header->type == Y2_SPECIAL)
		header->rdev = get_unaligned_le32(in + Y2_OH_RDEV);
	header->shadows = id_or_none(in + Y2_OH_SHADOWS);
	header->shrink = get_unaligned_le32(in + Y2_OH_SHRINK) == 1;
	return true;
}

bool y2_header_is_swapped(const u8 *in)
{
	u32 type = get_unaligned_be32(in + Y2_OH_TYPE);

	return type && type < Y2_TYPES && get_unaligned_be32(in + Y2_OH_PARENT) <= Y2_ID_MAX;
}
