/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The YAFFS2 format: constants only. Sources: "How YAFFS Works" (C. Manning), the Sleuth Kit's
 * notes on YAFFS2, the publicly known values of ids and sequence numbers. All integers are little
 * endian.
 *
 * A chunk is a page. Its tags name its object: chunk 0 of an object is its header, chunk k > 0
 * holds the bytes from (k - 1) * chunk_bytes of a file.
 */
#ifndef Y2_FORMAT_H
#define Y2_FORMAT_H

/* Reserved object ids */
#define Y2_ID_ROOT		1u
#define Y2_ID_LOST_AND_FOUND	2u
#define Y2_ID_UNLINKED		3u	/* parent of unlinked objects that are still open */
#define Y2_ID_DELETED		4u	/* parent of deleted objects: its headers are tombstones */
#define Y2_ID_SUMMARY \
	0x10u /* chunks that belong to no object: other implementations pass them over */
#define Y2_ID_CHECKPOINT	0x20u
#define Y2_ID_FIRST_FREE	0x101u
#define Y2_ID_MAX		0xfffffu	/* accepted */
#define Y2_ID_NEW_MAX		0x3ffffu	/* assigned: other drivers accept no larger ones */

/* Sequence numbers of blocks */
#define Y2_SEQ_CHECKPOINT	0x21u
#define Y2_SEQ_LOWEST		0x1000u
#define Y2_SEQ_HIGHEST		0xefffff00u
#define Y2_SEQ_UNUSED		0xffffffffu

/* Tags (packed tags 2): seq_number, obj_id, chunk_id, n_bytes; then the ECC over these 16 bytes */
#define Y2_TAGS_BYTES		16u
#define Y2_TAGS_ECC_BYTES	12u	/* column parity, 3 unused, line parity, its complement */
#define Y2_TAGS_TOTAL_BYTES	(Y2_TAGS_BYTES + Y2_TAGS_ECC_BYTES)

/* Pages of 512 bytes are laid out as in YAFFS1: see tags_yaffs1.c */
#define Y2_YAFFS1_PAGE_BYTES	512u
#define Y2_TAGS_YAFFS1_BYTES	8u
#define Y2_YAFFS1_CHUNK_MAX	0xfffffu

/*
 * Set in a header's chunk_id: its other bits are the parent, and the type is in the top 4 bits of
 * obj_id
 */
#define Y2_EXTRA_HEADER		0x80000000u
#define Y2_EXTRA_SHRINK		0x40000000u
#define Y2_EXTRA_SHADOWS	0x20000000u
#define Y2_EXTRA_FLAGS		0xf0000000u
#define Y2_EXTRA_TYPE_SHIFT	28
#define Y2_CHUNK_MAX		0x0fffffffu	/* accepted */
#define Y2_CHUNK_NEW_MAX \
	0x01ffffffu /* that is given: older drivers refuse a flash with larger ones */

enum y2_type {
	Y2_UNKNOWN,	/* a file whose header has not been read yet */
	Y2_FILE,
	Y2_SYMLINK,
	Y2_DIRECTORY,
	Y2_HARDLINK,
	Y2_SPECIAL,	/* device, fifo or socket, by the mode */
	Y2_TYPES
};

/* Object header: offsets of its fields in the chunk */
#define Y2_HEADER_BYTES		512u
#define Y2_NAME_MAX		255u
#define Y2_ALIAS_MAX		159u	/* target of a symbolic link */

#define Y2_OH_TYPE		0
#define Y2_OH_PARENT		4
#define Y2_OH_NAME_SUM		8	/* no longer used: 0xffff */
#define Y2_OH_NAME		10
#define Y2_OH_MODE		268
#define Y2_OH_UID		272
#define Y2_OH_GID		276
#define Y2_OH_ATIME		280
#define Y2_OH_MTIME		284
#define Y2_OH_CTIME		288
#define Y2_OH_SIZE_LOW		292
#define Y2_OH_EQUIVALENT	296	/* a hard link's target */
#define Y2_OH_ALIAS		300
#define Y2_OH_RDEV		460
#define Y2_OH_WINDOWS_TIMES	464	/* 3 of 8 bytes, not used here */
#define Y2_OH_INBAND_SHADOWS	488
#define Y2_OH_INBAND_SHRINK	492
#define Y2_OH_SIZE_HIGH		496	/* all ones: the size has 32 bits */
#define Y2_OH_RESERVED		500
#define Y2_OH_SHADOWS		504
#define Y2_OH_SHRINK		508

/*
 * Block summary: in the last chunks of a full block, under Y2_ID_SUMMARY with chunk_id from 1. It
 * has a head of version, block, sequence number and the sum of the following bytes; then obj_id,
 * chunk_id and n_bytes of each chunk of the block. Blocks are numbered from 1, as in other
 * implementations whose first block is 0. An entry without object is a gap: the page's own tags are
 * used.
 */
#define Y2_SUMMARY_VERSION	1u
#define Y2_SUMMARY_HEAD_BYTES	16u
#define Y2_SUMMARY_ENTRY_BYTES	12u

/*
 * Our extension: a note about another block, as a header under Y2_ID_SUMMARY whose parent is
 * "deleted". Drivers that know summaries skip that object; older ones see a deleted file. The
 * content of the note follows the header.
 */
#define Y2_NOTE			Y2_HEADER_BYTES
#define Y2_NOTE_MAGIC		0x746e3279u	/* "y2nt" */
#define Y2_NOTE_KIND		(Y2_NOTE + 4)
#define Y2_NOTE_BLOCK		(Y2_NOTE + 8)
#define Y2_NOTE_SEQ (Y2_NOTE + 12) /* of the block: if it has another one now, the note is void */
enum y2_note {
	Y2_NOTE_VOID = 1,	/* about to be erased; see gc.c */
	Y2_NOTE_TORN,		/* its last page is torn; see mount.c */
};

#endif
