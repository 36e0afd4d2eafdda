/* SPDX-License-Identifier: GPL-2.0-only */
/* A stream of bytes over the chunks of the checkpoint blocks, with a CRC at its end. */
#ifndef Y2_CHECKPOINT_H
#define Y2_CHECKPOINT_H

#include "yaffs2.h"

struct y2_stream {
	struct y2_fs *fs;
	bool writing;
	u32 block;	/* Y2_NO_BLOCK: none yet */
	u32 page;	/* the next of block */
	u32 chunks;	/* so far */
	u32 at, end;	/* of the buffer, which is fs->page */
	u32 crc;
	int err;	/* the first error; later calls do nothing */
};

void y2_stream_begin(struct y2_stream *stream, struct y2_fs *fs, bool writing);
void y2_stream_bytes(struct y2_stream *stream, u8 *bytes, u32 count);	/* writes or reads */
void y2_stream_u32(struct y2_stream *stream, u32 *value);
void y2_stream_u64(struct y2_stream *stream, u64 *value);
int y2_stream_end(struct y2_stream *stream);	/* writes or compares the CRC */

/* Writes or reads the state: one traversal serves both */
int y2_checkpoint_state(struct y2_stream *stream);
void y2_reset_state(struct y2_fs *fs);

#endif
