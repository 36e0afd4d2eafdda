// SPDX-License-Identifier: Apache-2.0
/* The file set, derived from seed, load and scale */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fileset.h"
#include "message.h"

enum { HUNDRED = 100, STREAM_SIZES = 1, STREAM_ACCESSED = 2 };

/* KB of a hundred files with the table's sizes */
static uint64_t kb_of_hundred(void)
{
	uint64_t kb = 0;

	for (int i = 0; i < SIZE_CLASSES; i++)
		kb += (uint64_t)size_classes[i].kb * size_classes[i].percent;
	return kb;
}

/* Each hundred files have exactly the table's sizes, in a random order */
static void make_sizes(struct fileset *set)
{
	uint8_t classes[HUNDRED];
	uint16_t order[HUNDRED];
	struct random random;
	int filled = 0;

	for (int i = 0; i < SIZE_CLASSES; i++)
		for (int j = 0; j < size_classes[i].percent; j++)
			classes[filled++] = (uint8_t)i;
	random_start(&random, set->seed, STREAM_SIZES);
	for (uint32_t file = 0; file < set->files; file++) {
		if (file % HUNDRED == 0)
			random_order(&random, order, HUNDRED);
		set->class[file] = classes[order[file % HUNDRED]];
	}
}

/* Selects one of each ten files of a class, and one of the rest at its end */
static void make_accessed(struct fileset *set)
{
	uint32_t *of_class = allocate(set->files, sizeof(*of_class));
	struct random random;

	random_start(&random, set->seed, STREAM_ACCESSED);
	for (uint32_t class = 0; class < SIZE_CLASSES; class++) {
		uint32_t many = 0;

		set->first_of_class[class] = set->accessed;
		for (uint32_t file = 0; file < set->files; file++)
			if (set->class[file] == class)
				of_class[many++] = file;
		for (uint32_t at = 0; at < many; at += ACCESSED_OF) {
			uint32_t group = many - at < ACCESSED_OF ? many - at : ACCESSED_OF;

			set->accessed_files[set->accessed++] = of_class[at + random_below(&random, group)];
			set->accessed_kb += size_classes[class].kb;
		}
	}
	set->first_of_class[SIZE_CLASSES] = set->accessed;
	free(of_class);
}

void fileset_make(struct fileset *set, uint64_t seed, uint32_t load, uint32_t scale)
{
	uint64_t kb = (uint64_t)load * MB_PER_LOAD * 1024 * scale / SCALE_WHOLE;
	uint64_t hundreds = (kb + kb_of_hundred() / 2) / kb_of_hundred();

	memset(set, 0, sizeof(*set));
	set->seed = seed;
	hundreds = hundreds ? hundreds : 1;
	set->files = (uint32_t)(hundreds * HUNDRED);
	set->directories = (set->files + FILES_IN_DIRECTORY - 1) / FILES_IN_DIRECTORY;
	set->kb = hundreds * kb_of_hundred();
	set->class = allocate(set->files, sizeof(*set->class));
	set->accessed_files = allocate(set->files / ACCESSED_OF + SIZE_CLASSES, sizeof(*set->accessed_files));
	make_sizes(set);
	make_accessed(set);
}

void fileset_free(struct fileset *set)
{
	free(set->class);
	free(set->accessed_files);
}

uint32_t fileset_size(const struct fileset *set, uint32_t file)
{
	return size_classes[set->class[file]].kb;
}

uint32_t fileset_draw(const struct fileset *set, uint32_t kb, struct random *random)
{
	uint32_t class = 0, first;

	while (class < SIZE_CLASSES - 1 && size_classes[class].kb < kb)
		class++;
	first = set->first_of_class[class];
	return first + (uint32_t)random_below(random, set->accessed - first);
}

static void digest_add(uint64_t *digest, uint64_t value)
{
	*digest = (*digest ^ value) * UINT64_C(0x100000001b3);
	*digest ^= *digest >> 29;
}

uint64_t fileset_digest(const struct fileset *set)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	char text[PATH_SIZE];

	for (uint32_t file = 0; file < set->files; file++) {
		name_of_file(text, file);
		for (const char *at = text; *at; at++)
			digest_add(&digest, (uint8_t)*at);
		digest_add(&digest, fileset_size(set, file));
	}
	for (uint32_t i = 0; i < set->accessed; i++)
		digest_add(&digest, set->accessed_files[i]);
	for (uint32_t link = 0; link < LINKS; link++) {
		target_of_link(set, text, link);
		for (const char *at = text; *at; at++)
			digest_add(&digest, (uint8_t)*at);
	}
	return digest;
}

void name_of_directory(char *name, uint32_t directory)
{
	snprintf(name, PATH_SIZE, "d%06u", directory);
}

void name_of_file(char *name, uint32_t file)
{
	snprintf(name, PATH_SIZE, "f%08u", file);
}

void name_of_link(char *name, uint32_t link)
{
	snprintf(name, PATH_SIZE, "l%02u", link);
}

void name_of_plain_directory(char *name, uint32_t directory)
{
	snprintf(name, PATH_SIZE, "p%02u", directory);
}

void name_of_plain_file(char *name, uint32_t file)
{
	snprintf(name, PATH_SIZE, "p%03u", file);
}

void name_of_nothing(char *name, uint32_t file)
{
	snprintf(name, PATH_SIZE, "n%08u", file);
}

void target_of_link(const struct fileset *set, char *target, uint32_t link)
{
	uint32_t file = (uint32_t)((uint64_t)set->files * link / LINKS);

	snprintf(target, PATH_SIZE, "../d%06u/f%08u", file / FILES_IN_DIRECTORY, file);
}
