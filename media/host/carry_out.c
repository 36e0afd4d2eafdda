// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * All that is pending is taken back first, newest first, which leaves the new content in the region; then what was kept
 * is put back, oldest first. So it does not matter in which order overlapping writes reached the medium.
 */
#include <stdlib.h>
#include <string.h>

#include "carry_out.h"

struct carrying {
	struct fb_undo *undo;
	u8 *data;
	struct fb_undo_record **records;	/* what is pending, oldest first */
	u64 count;
	u64 at;					/* the record that was asked for last */
	bool begun;
	fb_tell *tell;
	void *context;
};

static bool pending(const struct fb_undo_record *record, u64 oldest)
{
	return record->end_sequence > oldest;
}

static bool gather(struct carrying *c, u64 oldest)
{
	u64 number = c->undo->made > c->undo->records ? c->undo->made - c->undo->records : 0;

	c->records = malloc((c->undo->made - number + 1) * sizeof(*c->records));
	if (!c->records)
		return false;
	for (; number < c->undo->made; number++)
		if (pending(fb_undo_record(c->undo, number), oldest))
			c->records[c->count++] = fb_undo_record(c->undo, number);
	return true;
}

static struct fb_undo_record *record_of(struct carrying *c, u64 sequence)
{
	u64 tries;

	for (tries = 0; tries < c->count; tries++) {
		struct fb_undo_record *record = c->records[c->at];

		if (record->first_sequence <= sequence && sequence < record->end_sequence)
			return record;
		c->at = (c->at + 1) % c->count;
	}
	return NULL;
}

static const char *fault(struct carrying *c, const struct fb_medium *medium, u64 exposed_bytes)
{
	u64 sequence = fb_oldest_pending(medium);
	u64 i;

	for (i = 0; i < c->count; i++) {
		const struct fb_undo_record *r = c->records[i];

		if (r->length_bytes > exposed_bytes || r->offset_bytes > exposed_bytes - r->length_bytes ||
		    r->length_bytes > c->undo->room_bytes || r->position > c->undo->room_bytes - r->length_bytes)
			return "damaged: a record is beyond its end";
	}
	for (; sequence < fb_next_sequence(medium); sequence++)
		if (!record_of(c, sequence))
			return "does not have the old content of what is pending: made with another medium?";
	return NULL;
}

static void swap(u8 *a, u8 *b, u64 bytes)
{
	u8 piece[4096];
	u64 length;

	for (; bytes; a += length, b += length, bytes -= length) {
		length = bytes < sizeof(piece) ? bytes : sizeof(piece);
		memcpy(piece, a, length);
		memcpy(a, b, length);
		memcpy(b, piece, length);
	}
}

static void take_all_back(struct carrying *c)
{
	u64 i;

	for (i = c->count; i--;)
		swap(c->data + c->records[i]->offset_bytes, fb_undo_content(c->undo, c->records[i]),
		     c->records[i]->length_bytes);
}

static void put_back(struct carrying *c, u64 sequence, u64 offset_bytes, u64 end_bytes)
{
	const struct fb_undo_record *record = record_of(c, sequence);

	memcpy(c->data + offset_bytes, fb_undo_content(c->undo, record) + (offset_bytes - record->offset_bytes),
	       end_bytes - offset_bytes);
}

/* The oldest write may be on the medium in part already: nothing is told of what lies before its first pending part */
static void put_back_finished(struct carrying *c, const struct fb_fated *first)
{
	put_back(c, first->sequence, record_of(c, first->sequence)->offset_bytes, first->offset_bytes);
}

static void carry_out(void *context, const struct fb_fated *fated)
{
	struct carrying *c = context;

	if (!c->begun)
		put_back_finished(c, fated);
	c->begun = true;
	if (fated->fate == FB_KEPT)
		put_back(c, fated->sequence, fated->offset_bytes, fated->offset_bytes + fated->length_bytes);
	c->tell(c->context, fated);
}

bool carry_out_cut(struct fb_medium *medium, struct fb_undo *undo, u8 *data, u64 exposed_bytes, u64 cut_ns, u64 seed,
		   fb_tell *tell, void *context, const char **reason)
{
	struct carrying c = { .undo = undo, .data = data, .tell = tell, .context = context };

	*reason = "out of memory";
	if (!gather(&c, fb_oldest_pending(medium)))
		return false;
	*reason = fault(&c, medium, exposed_bytes);
	if (!*reason) {
		take_all_back(&c);
		fb_cut(medium, cut_ns, seed, carry_out, &c);
		fb_undo_clear(undo);
	}
	free(c.records);
	return !*reason;
}
