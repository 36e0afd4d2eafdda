/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files, their sizes, and which of them a load accesses. Everything follows from the seed, the load and the scale;
 * the number of load processes has no influence.
 */
#ifndef FILESET_H
#define FILESET_H

#include <stdbool.h>
#include <stdint.h>

#include "sizes.h"

enum {
	FILES_IN_DIRECTORY = 30,
	LINKS = 20,
	PLAIN_FILES = 100, /* created and removed, but not read or written */
	PLAIN_DIRECTORIES = (PLAIN_FILES + FILES_IN_DIRECTORY - 1) / FILES_IN_DIRECTORY,
	ACCESSED_OF = 10, /* one file of so many is accessed */
	MB_PER_LOAD = 10, /* size of the set for each operation a second */
	SCALE_WHOLE = 1000000, /* a scale of 1 */
	PATH_SIZE = 48,
};

struct fileset {
	uint64_t seed;
	uint32_t files, directories, accessed; /* counts; directories without those of links and plain files */
	uint64_t kb, accessed_kb;
	uint8_t *class; /* of each file: its index in size_classes */
	/* The accessed files, small ones first */
	uint32_t *accessed_files;
	uint32_t first_of_class[SIZE_CLASSES + 1]; /* each class's first index in accessed_files */
};

/* load: operations a second. scale: parts of SCALE_WHOLE. */
void fileset_make(struct fileset *set, uint64_t seed, uint32_t load, uint32_t scale);
void fileset_free(struct fileset *set);

/* The size in KB */
uint32_t fileset_size(const struct fileset *set, uint32_t file);

/*
 * Draws an accessed file of at least `kb` KB, uniformly; of the largest ones if none is that large. Returns its index
 * in accessed_files.
 */
uint32_t fileset_draw(const struct fileset *set, uint32_t kb, struct random *random);

/* A digest of the whole set: sizes, names and accessed files */
uint64_t fileset_digest(const struct fileset *set);

/* Names within their directories */
void name_of_directory(char *name, uint32_t directory);
void name_of_file(char *name, uint32_t file);
void name_of_link(char *name, uint32_t link);
void name_of_plain_directory(char *name, uint32_t directory);
void name_of_plain_file(char *name, uint32_t file);
/* A name that does not exist */
void name_of_nothing(char *name, uint32_t file);
/* The target of a link */
void target_of_link(const struct fileset *set, char *target, uint32_t link);

#endif
