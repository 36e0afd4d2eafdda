/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What arrives when: one stream for the whole load, which follows from the seed, the load, the mix and the file set
 * alone. Each load process reads all of it and carries out its share, so the number of processes changes nothing of it.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "fileset.h"
#include "mix.h"

enum { WRITTEN_KEPT = 16 };

struct arrival {
	uint64_t number, at_ns; /* since the load began */
	enum op op;
	uint32_t place; /* of the file in the set's accessed_files */
	uint32_t item; /* the link, or the plain file, where the operation is of one */
	bool absent; /* LOOKUP of a name that is not there */
	uint32_t mode; /* SETATTR */
	uint64_t from_kb; /* READ, WRITE */
	uint32_t kb;
};

struct schedule {
	const struct fileset *set;
	const struct mix *mix;
	struct random times, choices;
	uint64_t mean_ps, next_ps, number;
	/* Calls of each operation that are left in the deck; below 0 where a transfer took more */
	int64_t cards[MIX_OPS];
	uint32_t *length_kb; /* of each accessed file: how far it was written */
	uint32_t written[WRITTEN_KEPT], written_count; /* places: those that a COMMIT may be of */
	/* Of the plain files, rings of those that are there and those that are not: the one longest so is next */
	uint32_t there[PLAIN_FILES], there_from, there_count;
	uint32_t gone[PLAIN_FILES], gone_from, gone_count;
};

void schedule_start(struct schedule *schedule, const struct fileset *set, const struct mix *mix, uint64_t seed,
		    uint32_t load);
void schedule_free(struct schedule *schedule);

void schedule_next(struct schedule *schedule, struct arrival *arrival);

/* Calls that an arrival is made of */
uint32_t arrival_calls(const struct arrival *arrival);

/* Plain files that are there when a load begins: the first half of them */
bool plain_file_is_there(uint32_t file);

#endif
