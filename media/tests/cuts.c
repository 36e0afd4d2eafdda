// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Power cuts against an oracle. A medium serves random requests, its power goes at a random moment, the cut is carried
 * out on its content, it serves again; after each cut the content is held to what a host may rely on:
 *
 *	- what was flushed, or was done on a medium without volatile cache, is there, or something newer
 *	- what is there was written there
 *	- only sectors of a write that was not safe yet may be unreadable, and they stay so until they are written
 *	  again
 *
 * Each sector holds the number of the write that it is from. The oracle knows when requests came and when they were
 * done; it does not ask the medium what it has pending.
 *
 *	cuts --cuts N --seed N key=value ...    parameters as for fbmedia create
 *
 * A device that ignores flushes must be caught. Exit code 0: nothing found; 3: found; 2: wrong arguments.
 */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "arguments.h"
#include "fb_undo.h"
#include "message.h"
#include "test.h"

#define WINDOW_BYTES	(2u << 20)
#define MAX_STATE_BYTES (4u << 20)

const char program_name[] = "cuts";

enum { MAX_REQUESTS = 48, MAX_WRITE_SECTORS = 256, VERIFY_EVERY = 64, MAX_SHOWN = 3, FOUND = 3 };

struct write {
	u64 first;
	u64 end;
	u64 done_ns;		/* as the host was told */
	bool fua;
};

struct flush {
	u64 came_ns;
	u64 done_ns;
};

struct sector {
	u64 safe;		/* the last write to it that must not be lost; 0: it was never written */
	u64 last;		/* the last write to it */
	bool unreadable;	/* since a former cut, and not written since */
};

struct totals {
	u64 requests;
	u64 parts[3];		/* by fate */
	u64 torn;
	u64 unreadable_sectors;
	u64 violations;
};

struct bed {
	struct fb_params params;
	struct fb_medium *medium;
	struct fb_undo *undo;
	u8 *data;
	u64 window_bytes;
	u64 sectors;
	struct sector *sector;

	/* Since the power came on. Write number first_write + i is write[i]. */
	struct write write[MAX_REQUESTS];
	u64 first_write;
	u64 writes;
	struct flush flush[MAX_REQUESTS];
	u64 flushes;
	u64 now_ns;
	u64 last_done_ns;

	u64 random;
	struct totals totals;
};

static u64 below(struct bed *b, u64 limit)
{
	return next_random(&b->random) % limit;
}

static u64 *stamp(struct bed *b, u64 sector)
{
	return (u64 *)(b->data + sector * b->params.sector_bytes);
}

/* --- the host --- */

static bool under_way(const struct bed *b, u64 first, u64 end)
{
	u64 i;

	for (i = 0; i < b->writes; i++)
		if (b->write[i].done_ns > b->now_ns && b->write[i].first < end && b->write[i].end > first)
			return true;
	return false;
}

/* A host does not write what it is writing already: the order would be anybody's guess */
static void wait_for(struct bed *b, u64 first, u64 end)
{
	u64 i;

	if (!under_way(b, first, end))
		return;
	for (i = 0; i < b->writes; i++)
		if (b->write[i].first < end && b->write[i].end > first && b->write[i].done_ns > b->now_ns)
			b->now_ns = b->write[i].done_ns;
}

static u64 send(struct bed *b, enum fb_op op, u64 first, u64 end, bool fua)
{
	u64 sector_bytes = b->params.sector_bytes;
	struct fb_request request = {
		.op = op,
		.offset_bytes = first * sector_bytes,
		.length_bytes = (end - first) * sector_bytes,
		.fua = fua,
	};
	u64 done_ns = fb_submit(b->medium, &request, b->now_ns);

	CHECK(done_ns != FB_NEVER);
	b->totals.requests++;
	if (done_ns > b->last_done_ns)
		b->last_done_ns = done_ns;
	return done_ns;
}

static void write_sectors(struct bed *b, u64 first, u64 end)
{
	u64 sector_bytes = b->params.sector_bytes;
	u64 number = b->first_write + b->writes;
	u64 length_bytes = (end - first) * sector_bytes;
	bool fua = below(b, 4) == 0;
	u64 sequence = fb_next_sequence(b->medium);
	u64 done_ns, sector;

	if (fb_read_only(b->medium))
		return;
	done_ns = send(b, FB_WRITE, first, end, fua);
	CHECK(fb_last_outcome(b->medium) == FB_DONE);
	fb_undo_keep(b->undo, stamp(b, first), first * sector_bytes, length_bytes, sequence,
		     fb_next_sequence(b->medium));
	for (sector = first; sector < end; sector++) {
		*stamp(b, sector) = number;
		b->sector[sector].last = number;
		b->sector[sector].unreadable = false;
	}
	b->write[b->writes++] = (struct write) { first, end, done_ns, fua };
}

static void flush(struct bed *b)
{
	b->flush[b->flushes].came_ns = b->now_ns;
	b->flush[b->flushes++].done_ns = send(b, FB_FLUSH, 0, 0, false);
}

/* Small writes close to each other, runs, and anything anywhere; whole pages or not */
static void choose_place(struct bed *b, u64 *first, u64 *end)
{
	u64 page = b->params.kind == FB_FLASH ? b->params.page_bytes / b->params.sector_bytes : 8;
	u64 region = below(b, 2) ? b->sectors : fb_exposed_bytes(&b->params) < 65536 ? b->sectors : 16 * page;
	u64 longest = below(b, 8) ? 2 * page : MAX_WRITE_SECTORS;
	u64 length = 1 + below(b, longest);

	if (region > b->sectors)
		region = b->sectors;
	*first = below(b, region);
	if (b->writes && below(b, 4) == 0)
		*first = b->write[b->writes - 1].end % b->sectors;
	if (below(b, 2)) {
		*first = *first / page * page;
		length = (length + page - 1) / page * page;
	}
	*end = *first + length < b->sectors ? *first + length : b->sectors;
}

static void put_request(struct bed *b)
{
	u64 kind = below(b, 16);
	u64 first, end;

	choose_place(b, &first, &end);
	wait_for(b, first, end);
	if (kind < 11)
		write_sectors(b, first, end);
	else if (kind < 12)
		send(b, FB_READ, first, end, false);
	else if (kind < 13)
		send(b, FB_DISCARD, first, end, false);
	else
		flush(b);
	/* Right behind it, a little later, or when all is done */
	if (below(b, 4) == 0)
		b->now_ns += below(b, 1000000);
	else if (below(b, 2) && b->last_done_ns > b->now_ns)
		b->now_ns = b->last_done_ns;
}

/* --- the cut --- */

static void count(void *context, const struct fb_fated *fated)
{
	struct bed *b = context;

	b->totals.parts[fated->fate]++;
	b->totals.torn += fated->torn;
}

static u64 cut_power(struct bed *b)
{
	u64 span_ns = b->last_done_ns > b->now_ns ? b->last_done_ns - b->now_ns : 0;
	u64 cut_ns = b->now_ns + below(b, span_ns + span_ns / 8 + 1);
	const char *fault = fb_undo_cut(b->undo, b->medium, b->data, b->window_bytes, cut_ns, next_random(&b->random),
					count, b);

	if (fault) {
		fprintf(stderr, "cuts: %s\n", fault);
		exit(1);
	}
	return cut_ns;
}

/* --- the oracle --- */

static void violation(struct bed *b, u64 sector, const char *what)
{
	if (b->totals.violations++ < MAX_SHOWN)
		fprintf(stderr, "sector %" PRIu64 ": %s (holds write %" PRIu64 ", safe is %" PRIu64 ", last is %" PRIu64
			")\n", sector, what, *stamp(b, sector), b->sector[sector].safe, b->sector[sector].last);
}

static bool written_there(const struct bed *b, u64 number, u64 sector)
{
	const struct write *w;

	if (number < b->first_write || number >= b->first_write + b->writes)
		return false;
	w = &b->write[number - b->first_write];
	return sector >= w->first && sector < w->end;
}

static void look_at(struct bed *b, u64 at, bool unreadable)
{
	struct sector *s = &b->sector[at];

	if (unreadable) {
		b->totals.unreadable_sectors++;
		if (!s->unreadable && s->last == s->safe)
			violation(b, at, "what was safe is unreadable");
	} else if (s->unreadable) {
		violation(b, at, "it was unreadable, and nobody wrote it since");
	} else if (*stamp(b, at) < s->safe) {
		violation(b, at, "what was safe is lost");
	} else if (*stamp(b, at) != s->safe && !written_there(b, *stamp(b, at), at)) {
		violation(b, at, "this was never written there");
	}
	s->unreadable = unreadable;
	s->safe = *stamp(b, at);
	s->last = *stamp(b, at);
}

static void look_at_range(struct bed *b, u64 first, u64 end)
{
	u64 sector_bytes = b->params.sector_bytes;
	u64 middle = first + (end - first) / 2;

	if (!fb_unreadable(b->medium, first * sector_bytes, (end - first) * sector_bytes)) {
		for (; first < end; first++)
			look_at(b, first, false);
	} else if (end - first == 1) {
		look_at(b, first, true);
	} else {
		look_at_range(b, first, middle);
		look_at_range(b, middle, end);
	}
}

/* Done on a medium without a volatile cache, or past it; else before a flush that was done when the power went */
static bool safe(const struct bed *b, const struct write *w, u64 cut_ns)
{
	u64 i;

	if ((w->fua || !fb_volatile_cache(&b->params)) && w->done_ns <= cut_ns)
		return true;
	for (i = 0; i < b->flushes; i++)
		if (w->done_ns <= b->flush[i].came_ns && b->flush[i].done_ns <= cut_ns)
			return true;
	return false;
}

static void judge(struct bed *b, u64 cut_ns)
{
	u64 i, sector;

	for (i = 0; i < b->writes; i++)
		if (safe(b, &b->write[i], cut_ns))
			for (sector = b->write[i].first; sector < b->write[i].end; sector++)
				b->sector[sector].safe = b->first_write + i;
	look_at_range(b, 0, b->sectors);
}

static void one_cut(struct bed *b, u64 cut)
{
	u64 requests = 1 + below(b, MAX_REQUESTS);

	fb_power_on(b->medium);
	CHECK_EQUAL(cut, fb_medium_counters(b->medium)->restarts);
	b->first_write += b->writes;
	b->writes = 0;
	b->flushes = 0;
	b->now_ns = 0;
	b->last_done_ns = 0;
	while (requests--)
		put_request(b);
	judge(b, cut_power(b));
	if (cut % VERIFY_EVERY == 0 && fb_verify(b->medium))
		violation(b, 0, fb_verify(b->medium));
}

/* --- set-up --- */

/*
 * Halves the device. Returns false if its rules refuse that. The reserve for collection does not shrink, so it may leave
 * room for less than half the capacity.
 */
static bool halve(struct fb_params *p)
{
	struct fb_params smaller = *p;
	struct fb_complaint complaint;

	smaller.used_bytes = 0;
	smaller.blocks_per_die = p->blocks_per_die / 2 / p->planes * p->planes;
	smaller.factory_bad_blocks /= 2;
	smaller.spare_blocks /= 2;
	smaller.slc_cache_bytes /= 2;
	smaller.capacity_bytes = p->capacity_bytes / 2 / p->page_bytes * p->page_bytes;
	while (!fb_check_params(&smaller, &complaint)) {
		if (complaint.param != FB_PARAM_capacity_bytes || complaint.max >= smaller.capacity_bytes)
			return false;
		smaller.capacity_bytes = complaint.max / p->page_bytes * p->page_bytes;
	}
	if (smaller.capacity_bytes < WINDOW_BYTES)
		return false;
	*p = smaller;
	return true;
}

/* The same device with fewer blocks, as few as its rules allow: so that collection and merges take part */
static void shrink(struct fb_params *p)
{
	while (p->kind == FB_FLASH && fb_state_bytes(p) > MAX_STATE_BYTES / 8 && halve(p))
		;
}

static void *room_for(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	CHECK(memory);
	return memory;
}

static void *zeroed(size_t bytes)
{
	return memset(room_for(bytes), 0, bytes);
}

static void set_up(struct bed *b)
{
	u64 exposed_bytes;

	shrink(&b->params);
	b->medium = new_medium(&b->params);
	b->undo = fb_undo_init(room_for(fb_undo_bytes(&b->params)), &b->params);
	exposed_bytes = fb_exposed_bytes(&b->params);
	b->window_bytes = exposed_bytes < WINDOW_BYTES ? exposed_bytes : WINDOW_BYTES;
	b->sectors = b->window_bytes / b->params.sector_bytes;
	b->data = zeroed(b->window_bytes);
	b->sector = zeroed(b->sectors * sizeof(*b->sector));
	b->first_write = 1;
}

static void report(const struct bed *b, u64 cuts, double seconds)
{
	const struct fb_counters *counters = fb_medium_counters(b->medium);
	const struct totals *t = &b->totals;

	printf("{\"cuts\": %" PRIu64 ", \"requests\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"lost\": %" PRIu64
	       ", \"unreadable\": %" PRIu64 ", \"torn\": %" PRIu64 ", \"unreadable_sectors_met\": %" PRIu64
	       ", \"erases\": %" PRIu64 ", \"failures\": %" PRIu64 ", \"suspends\": %" PRIu64
	       ", \"violations\": %" PRIu64 ", \"cuts_per_second\": %.0f}\n",
	       cuts, t->requests, t->parts[FB_KEPT], t->parts[FB_LOST], t->parts[FB_UNREADABLE], t->torn,
	       t->unreadable_sectors, counters->flash_erased_blocks,
	       counters->program_failures + counters->erase_failures,
	       counters->flash_suspends, t->violations, cuts / seconds);
}

static u64 number_after(int argc, char **argv, int *at, const char *option, u64 fallback)
{
	if (*at + 1 >= argc || strcmp(argv[*at], option))
		return fallback;
	*at += 2;
	return strtoull(argv[*at - 1], NULL, 10);
}

int main(int argc, char **argv)
{
	static struct bed b;
	struct timespec begin, end;
	int at = 1;
	u64 cuts = number_after(argc, argv, &at, "--cuts", 10000);
	u64 cut;

	b.random = number_after(argc, argv, &at, "--seed", 1) * 2 + 1;
	if (!arguments_read(argc - at, argv + at, &b.params))
		return 2;
	set_up(&b);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (cut = 0; cut < cuts; cut++)
		one_cut(&b, cut);
	clock_gettime(CLOCK_MONOTONIC, &end);
	report(&b, cuts, (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) * 1e-9);
	return b.totals.violations ? FOUND : 0;
}
