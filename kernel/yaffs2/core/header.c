// SPDX-License-Identifier: GPL-2.0-only
/* Unused fields hold ones, like erased flash. A header has no checksum: the data's ECC stands for it. */
#include "header.h"

#define NO_SIZE	0xffffffffu

void y2_header_pack(const struct y2_header *header, u8 *out)
{
	memset(out, 0xff, Y2_HEADER_BYTES);
	y2_put32(out + Y2_OH_TYPE, header->type);
	y2_put32(out + Y2_OH_PARENT, header->parent);
	memset(out + Y2_OH_NAME, 0, Y2_NAME_MAX + 1);
	memcpy(out + Y2_OH_NAME, header->name, strlen(header->name));
	y2_put32(out + Y2_OH_MODE, header->mode);
	y2_put32(out + Y2_OH_UID, header->uid);
	y2_put32(out + Y2_OH_GID, header->gid);
	y2_put32(out + Y2_OH_ATIME, header->atime);
	y2_put32(out + Y2_OH_MTIME, header->mtime);
	y2_put32(out + Y2_OH_CTIME, header->ctime);
	if (header->type == Y2_FILE) {
		y2_put32(out + Y2_OH_SIZE_LOW, (u32)header->size);
		y2_put32(out + Y2_OH_SIZE_HIGH, (u32)(header->size >> 32));
	}
	if (header->type == Y2_HARDLINK)
		y2_put32(out + Y2_OH_EQUIVALENT, header->equivalent);
	if (header->type == Y2_SYMLINK) {
		memset(out + Y2_OH_ALIAS, 0, Y2_ALIAS_MAX + 1);
		memcpy(out + Y2_OH_ALIAS, header->alias, strlen(header->alias));
	}
	y2_put32(out + Y2_OH_RDEV, header->type == Y2_SPECIAL ? header->rdev : 0);
	y2_put32(out + Y2_OH_INBAND_SHADOWS, header->shadows);
	y2_put32(out + Y2_OH_INBAND_SHRINK, header->shrink);
	y2_put32(out + Y2_OH_SHADOWS, header->shadows);
	y2_put32(out + Y2_OH_SHRINK, header->shrink);
}

/* Of a field of most + 1 bytes: false if it does not end in it */
static bool copy_text(char *to, const u8 *from, u32 most)
{
	u32 length = 0;

	while (length <= most && from[length])
		length++;
	if (length > most)
		return false;
	memcpy(to, from, length);
	return true;
}

static u32 id_or_none(const u8 *field)
{
	u32 id = y2_get32(field);

	return id <= Y2_ID_MAX ? id : 0;
}

bool y2_header_unpack(const u8 *in, struct y2_header *header)
{
	u32 high = y2_get32(in + Y2_OH_SIZE_HIGH);

	memset(header, 0, sizeof(*header));
	if (!y2_get32(in + Y2_OH_TYPE) || y2_get32(in + Y2_OH_TYPE) >= Y2_TYPES)
		return false;
	header->type = y2_get32(in + Y2_OH_TYPE);
	header->parent = y2_get32(in + Y2_OH_PARENT);
	if (!copy_text(header->name, in + Y2_OH_NAME, Y2_NAME_MAX))
		return false;
	header->mode = y2_get32(in + Y2_OH_MODE);
	header->uid = y2_get32(in + Y2_OH_UID);
	header->gid = y2_get32(in + Y2_OH_GID);
	header->atime = y2_get32(in + Y2_OH_ATIME);
	header->mtime = y2_get32(in + Y2_OH_MTIME);
	header->ctime = y2_get32(in + Y2_OH_CTIME);
	if (header->type == Y2_FILE)
		header->size = y2_get32(in + Y2_OH_SIZE_LOW) | (u64)(high == NO_SIZE ? 0 : high) << 32;
	if (header->type == Y2_HARDLINK)
		header->equivalent = y2_get32(in + Y2_OH_EQUIVALENT);
	/* Of the longest, others leave the last byte as it was */
	if (header->type == Y2_SYMLINK && !copy_text(header->alias, in + Y2_OH_ALIAS, Y2_ALIAS_MAX))
		memcpy(header->alias, in + Y2_OH_ALIAS, Y2_ALIAS_MAX);
	if (header->type == Y2_SPECIAL)
		header->rdev = y2_get32(in + Y2_OH_RDEV);
	header->shadows = id_or_none(in + Y2_OH_SHADOWS);
	header->shrink = y2_get32(in + Y2_OH_SHRINK) == 1;
	return true;
}
