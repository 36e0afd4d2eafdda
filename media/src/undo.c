// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The region with the old content of writes: two rings, of records and of bytes */
#include "fb_undo.h"
#include "fb_power.h"

#define MAGIC	0x6f646e7562666166ull	/* the file begins with "fafbundo" */
#define VERSION	1u

/* Requests that came to the driver and not yet to the medium, and what is left over where the ring of bytes ends */
#define SLACK_BYTES	(4ull * FB_UNDO_MAX_WRITE)

static u64 room_bytes(const struct fb_params *params)
{
	return fb_pending_bytes(params) + SLACK_BYTES;
}

/* Each write has at least one part; as many again for those that are only begun */
static u64 records(const struct fb_params *params)
{
	return 2 * fb_pending_parts(params);
}

static size_t records_end(u64 records)
{
	return sizeof(struct fb_undo) + records * sizeof(struct fb_undo_record);
}

size_t fb_undo_bytes(const struct fb_params *params)
{
	size_t bytes = 4096;

	if (!fb_state_bytes(params))
		return 0;
	while (bytes < records_end(records(params)) + room_bytes(params))
		bytes *= 2;
	return bytes;
}

void fb_undo_clear(struct fb_undo *u)
{
	u->made = 0;
	u->position = 0;
	u->cut_ns = FB_UNDO_NO_CUT;
}

void fb_undo_init(void *memory, const struct fb_params *params)
{
	struct fb_undo *u = memory;

	u->version = VERSION;
	u->bytes = fb_undo_bytes(params);
	u->records = records(params);
	u->room_bytes = room_bytes(params);
	fb_undo_clear(u);
	u->magic = MAGIC;
}

enum fb_error fb_undo_open(void *memory, size_t bytes, const struct fb_params *params, struct fb_undo **undo)
{
	struct fb_undo *u = memory;

	if (bytes < sizeof(u->magic) || u->magic != MAGIC)
		return FB_NOT_A_STATE;
	if (bytes < sizeof(*u) || bytes < u->bytes)
		return FB_TRUNCATED;
	if (u->version != VERSION)
		return FB_OTHER_VERSION;
	if (u->bytes != fb_undo_bytes(params) || u->records != records(params) ||
	    u->room_bytes != room_bytes(params) || u->position > u->room_bytes)
		return FB_DAMAGED;
	*undo = u;
	return FB_OK;
}

struct fb_undo_record *fb_undo_record(const struct fb_undo *u, u64 number)
{
	return (struct fb_undo_record *)(u + 1) + number % u->records;
}

u8 *fb_undo_content(const struct fb_undo *u, const struct fb_undo_record *record)
{
	return (u8 *)u + records_end(u->records) + record->position;
}

u64 fb_undo_begin(struct fb_undo *u, u64 offset_bytes, u64 length_bytes)
{
	if (u->position + length_bytes > u->room_bytes)
		u->position = 0;
	*fb_undo_record(u, u->made) = (struct fb_undo_record) {
		.offset_bytes = offset_bytes,
		.length_bytes = length_bytes,
		.position = u->position,
		.first_sequence = FB_UNDO_OPEN,
		.end_sequence = FB_UNDO_OPEN,
	};
	u->position += length_bytes;
	return u->made++;
}

void fb_undo_submitted(struct fb_undo *u, u64 number, u64 first_sequence, u64 end_sequence)
{
	struct fb_undo_record *record = fb_undo_record(u, number);

	record->first_sequence = first_sequence;
	record->end_sequence = end_sequence;
}
