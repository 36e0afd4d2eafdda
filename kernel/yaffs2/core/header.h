/* SPDX-License-Identifier: GPL-2.0-only */
/* The object header, as stored in chunk 0 of an object. */
#ifndef Y2_HEADER_H
#define Y2_HEADER_H

#include "format.h"
#include "platform.h"

struct y2_header {
	u8 type;
	u32 parent;
	char name[Y2_NAME_MAX + 1];
	u32 mode, uid, gid;
	u32 atime, mtime, ctime;	/* seconds since 1970 */
	u64 size;			/* of a file */
	u32 equivalent;			/* of a hard link */
	char alias[Y2_ALIAS_MAX + 1];	/* of a symbolic link */
	u32 rdev;
	u32 shadows;			/* the object replaced by this one; 0: none */
	bool shrink;
};

/* Packs Y2_HEADER_BYTES to out */
void y2_header_pack(const struct y2_header *header, u8 *out);
/* False if this is no header */
bool y2_header_unpack(const u8 *in, struct y2_header *header);
/* True if it is a header in the other byte order */
bool y2_header_is_swapped(const u8 *in);

#endif
