/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files there are, how large they are and which of them a load goes to. All of it follows from the seed, the load
 * and the scale alone: the number of load processes is not known here.
 */
#ifndef FILESET_H
#define FILESET_H

#include <stdbool.h>
#include <stdint.h>

#include "sizes.h"

enum {
	FILES_IN_DIRECTORY = 30,
	LINKS = 20,
	PLAIN_FILES = 100, /* that are made and removed, and not read or written */
	PLAIN_DIRECTORIES = (PLAIN_FILES + FILES_IN_DIRECTORY - 1) / FILES_IN_DIRECTORY,
	ACCESSED_OF = 10, /* one file of so many is accessed */
	MB_PER_LOAD = 10, /* of files, for each operation a second */
	SCALE_WHOLE = 1000000, /* a scale of 1 */
	PATH_SIZE = 48,
};

struct fileset {
	uint64_t seed;
	uint32_t files, directories, accessed; /* how many; directories without those of links and plain files */
	uint64_t kb, accessed_kb;
	uint8_t *class; /* of each file: where in size_classes */
	/* Files that are accessed, small ones first */
	uint32_t *accessed_files;
	uint32_t first_of_class[SIZE_CLASSES + 1]; /* where in accessed_files a class begins */
};

/* load: operations a second. scale: parts of SCALE_WHOLE. */
void fileset_make(struct fileset *set, uint64_t seed, uint32_t load, uint32_t scale);
void fileset_free(struct fileset *set);

/* KB */
uint32_t fileset_size(const struct fileset *set, uint32_t file);

/* Place in accessed_files of a file that is accessed and has at least so many KB, each as likely as any other; of the
 * largest if none has so many */
uint32_t fileset_draw(const struct fileset *set, uint32_t kb, struct random *random);

/* One number for all of it: sizes, names and what is accessed */
uint64_t fileset_digest(const struct fileset *set);

/* Names within their directories */
void name_of_directory(char *name, uint32_t directory);
void name_of_file(char *name, uint32_t file);
void name_of_link(char *name, uint32_t link);
void name_of_plain_directory(char *name, uint32_t directory);
void name_of_plain_file(char *name, uint32_t file);
/* What is looked up and is not there */
void name_of_nothing(char *name, uint32_t file);
/* Where a link leads */
void target_of_link(const struct fileset *set, char *target, uint32_t link);

#endif
