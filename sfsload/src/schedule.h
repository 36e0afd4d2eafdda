/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrivals: one stream for the whole load, determined by the seed, the load, the mix and the file set. Each load
 * process reads all of it and executes its share, so the number of processes does not change it.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "fileset.h"
#include "mix.h"

enum { WRITTEN_KEPT = 16 };

struct arrival {
	uint64_t number, at_ns; /* since the load began */
	enum op op;
	uint32_t place; /* the file's index in accessed_files */
	uint32_t item; /* the link or plain file, for operations on one */
	bool absent; /* LOOKUP of an absent name */
	uint32_t mode; /* SETATTR */
	uint64_t from_kb; /* READ, WRITE */
	uint32_t kb;
};

struct schedule {
	const struct fileset *set;
	const struct mix *mix;
	struct random times, choices;
	uint64_t mean_ps, next_ps, number;
	/* Remaining calls of each operation in the deck; negative after a longer transfer */
	int64_t cards[MIX_OPS];
	uint32_t *length_kb; /* of each accessed file: its written length */
	uint32_t written[WRITTEN_KEPT], written_count; /* indexes of files that a COMMIT may address */
	/* Rings of the existing and the absent plain files: first in, first out */
	uint32_t there[PLAIN_FILES], there_from, there_count;
	uint32_t gone[PLAIN_FILES], gone_from, gone_count;
};

void schedule_start(struct schedule *schedule, const struct fileset *set, const struct mix *mix, uint64_t seed,
		    uint32_t load);
void schedule_free(struct schedule *schedule);

void schedule_next(struct schedule *schedule, struct arrival *arrival);

/* The number of calls of an arrival */
uint32_t arrival_calls(const struct arrival *arrival);

/* True for plain files that exist when a load begins: the first half */
bool plain_file_is_there(uint32_t file);

#endif
