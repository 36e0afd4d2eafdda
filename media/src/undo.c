// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A cut first undoes everything pending, newest first, which leaves the new content in the ring. Then it redoes what
 * was kept, oldest first. Hence the order in which overlapping writes reached the medium does not matter.
 */
#include "fb_undo.h"

struct record {
	u64 offset_bytes;
	u64 length_bytes;
	u64 position;		/* of the old content in the ring of bytes */
	u64 first_sequence;
	u64 end_sequence;
};

struct fb_undo {
	u64 records;		/* capacity */
	u64 room_bytes;		/* capacity for old content */
	u64 made;		/* records since the log was last empty */
	u64 position;		/* where the next old content goes */
	struct record record[];
};

struct cutting {
	struct fb_undo *undo;
	u8 *data;
	u64 oldest;		/* the number of the oldest record with pending parts */
	u64 at;			/* the number of the last record searched for */
	bool begun;
	fb_tell *told;
	void *context;
};

/* Everything pending, the newest write, and the waste at the end of the ring */
static u64 room_bytes(const struct fb_params *params)
{
	return fb_pending_bytes(params) + 2ull * FB_UNDO_MAX_WRITE;
}

/* Each write has at least one part; the newest write adds one */
static u64 records(const struct fb_params *params)
{
	return fb_pending_parts(params) + 1;
}

static size_t records_end(u64 count)
{
	return sizeof(struct fb_undo) + count * sizeof(struct record);
}

static struct record *record(struct fb_undo *u, u64 number)
{
	return &u->record[number % u->records];
}

static u8 *content(struct fb_undo *u, const struct record *r)
{
	return (u8 *)u + records_end(u->records) + r->position;
}

size_t fb_undo_bytes(const struct fb_params *params)
{
	return fb_state_bytes(params) ? records_end(records(params)) + room_bytes(params) : 0;
}

struct fb_undo *fb_undo_init(void *memory, const struct fb_params *params)
{
	struct fb_undo *u = memory;

	u->records = records(params);
	u->room_bytes = room_bytes(params);
	u->made = 0;
	u->position = 0;
	return u;
}

void fb_undo_keep(struct fb_undo *u, const void *old, u64 offset_bytes, u64 length_bytes, u64 first_sequence,
		  u64 end_sequence)
{
	struct record *r = record(u, u->made++);

	if (u->position + length_bytes > u->room_bytes)
		u->position = 0;
	r->offset_bytes = offset_bytes;
	r->length_bytes = length_bytes;
	r->position = u->position;
	r->first_sequence = first_sequence;
	r->end_sequence = end_sequence;
	u->position += length_bytes;
	__builtin_memcpy(content(u, r), old, length_bytes);
}

/* Sequences increase with the records; parts are done in any order */
static void find_oldest(struct cutting *c, u64 sequence)
{
	struct fb_undo *u = c->undo;

	c->oldest = u->made;
	while (c->oldest && u->made - c->oldest < u->records && record(u, c->oldest - 1)->end_sequence > sequence)
		c->oldest--;
	c->at = c->oldest;
}

static struct record *record_of(struct cutting *c, u64 sequence)
{
	u64 tries;

	for (tries = c->oldest; tries < c->undo->made; tries++) {
		struct record *r = record(c->undo, c->at);

		if (r->first_sequence <= sequence && sequence < r->end_sequence)
			return r;
		if (++c->at == c->undo->made)
			c->at = c->oldest;
	}
	return NULL;
}

static bool has_all(struct cutting *c, const struct fb_medium *medium, u64 exposed_bytes)
{
	u64 sequence, number;

	for (number = c->oldest; number < c->undo->made; number++) {
		const struct record *r = record(c->undo, number);

		if (r->length_bytes > exposed_bytes || r->offset_bytes > exposed_bytes - r->length_bytes)
			return false;
	}
	for (sequence = fb_oldest_pending(medium); sequence < fb_next_sequence(medium); sequence++)
		if (!record_of(c, sequence))
			return false;
	return true;
}

static void swap(u8 *a, u8 *b, u64 bytes)
{
	u8 piece[512];
	u64 length;

	for (; bytes; a += length, b += length, bytes -= length) {
		length = bytes < sizeof(piece) ? bytes : sizeof(piece);
		__builtin_memcpy(piece, a, length);
		__builtin_memcpy(a, b, length);
		__builtin_memcpy(b, piece, length);
	}
}

static void take_all_back(struct cutting *c)
{
	u64 number;

	for (number = c->undo->made; number-- > c->oldest;) {
		struct record *r = record(c->undo, number);

		swap(c->data + r->offset_bytes, content(c->undo, r), r->length_bytes);
	}
}

static void put_back(struct cutting *c, u64 sequence, u64 offset_bytes, u64 end_bytes)
{
	const struct record *r = record_of(c, sequence);
	u64 within = offset_bytes - r->offset_bytes;

	__builtin_memcpy(c->data + offset_bytes, content(c->undo, r) + within, end_bytes - offset_bytes);
}

/* The oldest write may be partly on the medium: what lies before its first pending part is not reported */
static void put_back_finished(struct cutting *c, const struct fb_fated *first)
{
	put_back(c, first->sequence, record_of(c, first->sequence)->offset_bytes, first->offset_bytes);
}

static void carry_out(void *context, const struct fb_fated *fated)
{
	struct cutting *c = context;

	if (!c->begun)
		put_back_finished(c, fated);
	c->begun = true;
	if (fated->fate == FB_KEPT)
		put_back(c, fated->sequence, fated->offset_bytes, fated->offset_bytes + fated->length_bytes);
	c->told(c->context, fated);
}

const char *fb_undo_cut(struct fb_undo *undo, struct fb_medium *medium, u8 *data, u64 exposed_bytes, u64 cut_ns,
			u64 seed, fb_tell *told, void *context)
{
	struct cutting c = { .undo = undo, .data = data, .told = told, .context = context };

	find_oldest(&c, fb_oldest_pending(medium));
	if (!has_all(&c, medium, exposed_bytes))
		return "the old content of what is pending is not all there";
	take_all_back(&c);
	fb_cut(medium, cut_ns, seed, carry_out, &c);
	undo->made = 0;
	undo->position = 0;
	return NULL;
}
