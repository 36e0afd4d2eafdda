// SPDX-License-Identifier: Apache-2.0
/*
 * Arrivals. Intervals are exponentially distributed. Operations are drawn like cards from a deck that holds each one in
 * proportion to the mix, so that the mix is exact in the long run and the order random. A read or write of a file takes
 * as many cards as it has calls: mix and load count calls.
 */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "schedule.h"

enum {
	DECKS = 2, /* of 100 calls each, combined */
	ABSENT_OF = 3, /* one of this many LOOKUPs is of an absent name */
	APPENDS = 70, /* percent of the file writes */
	STREAM_TIMES = 11,
	STREAM_CHOICES = 12,
};

#define PS_IN_S UINT64_C(1000000000000)

static uint32_t calls_of_100(enum op op)
{
	if (op == OP_READ)
		return transfer_calls_of_100(read_classes);
	return op == OP_WRITE ? transfer_calls_of_100(write_classes) : 100;
}

/* The relative number of arrivals for `calls` calls of an operation */
static uint64_t arrivals_of(enum op op, uint64_t calls)
{
	return calls * 100000000 / calls_of_100(op);
}

/* The mean interval of arrivals in picoseconds that gives the requested rate of calls */
static uint64_t mean_between(const struct mix *mix, uint32_t load)
{
	uint64_t arrivals = 0;

	for (int op = 0; op < MIX_OPS; op++)
		arrivals += arrivals_of((enum op)op, mix->percent[op]);
	return (uint64_t)((unsigned __int128)PS_IN_S * 100000000 / ((unsigned __int128)load * arrivals));
}

bool plain_file_is_there(uint32_t file)
{
	return file < PLAIN_FILES / 2;
}

void schedule_start(struct schedule *schedule, const struct fileset *set, const struct mix *mix, uint64_t seed,
		    uint32_t load)
{
	memset(schedule, 0, sizeof(*schedule));
	schedule->set = set;
	schedule->mix = mix;
	random_start(&schedule->times, seed, STREAM_TIMES);
	random_start(&schedule->choices, seed, STREAM_CHOICES);
	schedule->mean_ps = mean_between(mix, load);
	schedule->length_kb = allocate(set->accessed, sizeof(*schedule->length_kb));
	for (uint32_t i = 0; i < set->accessed; i++)
		schedule->length_kb[i] = fileset_size(set, set->accessed_files[i]);
	for (uint32_t file = 0; file < PLAIN_FILES; file++) {
		if (plain_file_is_there(file))
			schedule->there[schedule->there_count++] = file;
		else
			schedule->gone[schedule->gone_count++] = file;
	}
}

void schedule_free(struct schedule *schedule)
{
	free(schedule->length_kb);
}

/* Operations with several calls are drawn less often; an exhausted deck is replaced by the next */
static enum op draw_op(struct schedule *schedule)
{
	uint64_t weights[MIX_OPS], sum = 0, at;
	int op;

	while (!sum) {
		for (op = 0; op < MIX_OPS; op++) {
			weights[op] = schedule->cards[op] > 0 ? arrivals_of((enum op)op, (uint64_t)schedule->cards[op])
							      : 0;
			sum += weights[op];
		}
		for (op = 0; !sum && op < MIX_OPS; op++)
			schedule->cards[op] += DECKS * schedule->mix->percent[op];
	}
	at = random_below(&schedule->choices, sum);
	for (op = 0; at >= weights[op]; op++)
		at -= weights[op];
	return (enum op)op;
}

/*
 * Transfers start at a block boundary, within the file. Reads stay within the size before the load, so that no reply
 * depends on the order of writes.
 */
static uint64_t draw_block(struct schedule *schedule, uint32_t size_kb, uint32_t kb)
{
	uint32_t last = size_kb > kb ? (size_kb - kb) / BLOCK_KB : 0;

	return BLOCK_KB * random_below(&schedule->choices, last + 1);
}

static void draw_read(struct schedule *schedule, struct arrival *arrival)
{
	uint32_t kb = transfer_draw(read_classes, &schedule->choices), size;

	/* A block can be read from any file, and is truncated to a shorter file */
	arrival->place = fileset_draw(schedule->set, kb > BLOCK_KB ? kb : 0, &schedule->choices);
	size = fileset_size(schedule->set, schedule->set->accessed_files[arrival->place]);
	arrival->kb = kb < size ? kb : size;
	arrival->from_kb = draw_block(schedule, size, arrival->kb);
}

static void draw_write(struct schedule *schedule, struct arrival *arrival)
{
	uint32_t kb = transfer_draw(write_classes, &schedule->choices), end, *length;
	bool appends = random_below(&schedule->choices, 100) < APPENDS;

	arrival->place = fileset_draw(schedule->set, appends ? 0 : kb, &schedule->choices);
	length = &schedule->length_kb[arrival->place];
	arrival->kb = kb;
	arrival->from_kb = appends ? *length : draw_block(schedule, *length, kb);
	end = (uint32_t)arrival->from_kb + kb;
	*length = *length > end ? *length : end;
	schedule->written[schedule->written_count++ % WRITTEN_KEPT] = arrival->place;
}

static void draw_commit(struct schedule *schedule, struct arrival *arrival)
{
	uint32_t kept = schedule->written_count < WRITTEN_KEPT ? schedule->written_count : WRITTEN_KEPT;

	if (kept)
		arrival->place = schedule->written[random_below(&schedule->choices, kept)];
}

static uint32_t take(uint32_t *ring, uint32_t *from, uint32_t *count)
{
	uint32_t taken = ring[*from];

	*from = (*from + 1) % PLAIN_FILES;
	--*count;
	return taken;
}

static void put(uint32_t *ring, uint32_t from, uint32_t *count, uint32_t item)
{
	ring[(from + (*count)++) % PLAIN_FILES] = item;
}

/* The deck keeps creates and removes within two of each other, and fifty files of each kind exist when a load begins */
static void draw_plain_file(struct schedule *schedule, struct arrival *arrival)
{
	bool create = arrival->op == OP_CREATE;

	if (!(create ? schedule->gone_count : schedule->there_count))
		end_with(EXIT_HOST, "the schedule ran out of files to %s: a fault of this program",
			 op_name(arrival->op));
	if (create) {
		arrival->item = take(schedule->gone, &schedule->gone_from, &schedule->gone_count);
		put(schedule->there, schedule->there_from, &schedule->there_count, arrival->item);
	} else {
		arrival->item = take(schedule->there, &schedule->there_from, &schedule->there_count);
		put(schedule->gone, schedule->gone_from, &schedule->gone_count, arrival->item);
	}
}

static void draw_object(struct schedule *schedule, struct arrival *arrival)
{
	arrival->place = fileset_draw(schedule->set, 0, &schedule->choices);
	switch (arrival->op) {
	case OP_READ:
		draw_read(schedule, arrival);
		break;
	case OP_WRITE:
		draw_write(schedule, arrival);
		break;
	case OP_COMMIT:
		draw_commit(schedule, arrival);
		break;
	case OP_LOOKUP:
		arrival->absent = !random_below(&schedule->choices, ABSENT_OF);
		break;
	case OP_READLINK:
		arrival->item = (uint32_t)random_below(&schedule->choices, LINKS);
		break;
	case OP_SETATTR:
		arrival->mode = random_below(&schedule->choices, 2) ? 0644 : 0666;
		break;
	case OP_CREATE:
	case OP_REMOVE:
		draw_plain_file(schedule, arrival);
		break;
	default:
		break;
	}
}

uint32_t arrival_calls(const struct arrival *arrival)
{
	return arrival->op == OP_READ || arrival->op == OP_WRITE ? transfer_calls(arrival->kb) : 1;
}

void schedule_next(struct schedule *schedule, struct arrival *arrival)
{
	memset(arrival, 0, sizeof(*arrival));
	schedule->next_ps += random_exponential(&schedule->times, schedule->mean_ps);
	arrival->number = schedule->number++;
	arrival->at_ns = schedule->next_ps / 1000;
	arrival->op = draw_op(schedule);
	draw_object(schedule, arrival);
	schedule->cards[arrival->op] -= arrival_calls(arrival);
}
