/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's server asks before it lets anybody in: three caches below /proc/net/rpc, each with a channel from
 * which questions are read, and to which answers are written (Linux, Documentation/filesystems/nfs/rpc-cache.rst).
 * A client's "domain" here is its address, so each question names the client itself.
 */
#ifndef CACHES_H
#define CACHES_H

#include <stdbool.h>
#include <stddef.h>

#include "exports.h"

enum cache { CACHE_ADDRESS, CACHE_EXPORT, CACHE_HANDLE, CACHES };

enum { CACHE_LINE = 2048 };

/* Their files, in the order of enum cache */
extern const char *const cache_files[CACHES];
/* A number written to one of these empties its cache */
extern const char *const cache_flushes[CACHES];

/*
 * The answer to a question, both lines with their end. A client or an export that nobody is to have gets an answer as
 * well: that there is nothing. False for a question that is not understood; the kernel then refuses by itself, later.
 */
bool cache_answer(enum cache cache, const struct exports *exports, const char *question, char *answer, size_t size);

/* The line that tells a cache beforehand what it would ask when `address` comes for the export of `rule` */
bool cache_foretell(enum cache cache, const struct export_rule *rule, uint32_t address, char *line, size_t size);

#endif
