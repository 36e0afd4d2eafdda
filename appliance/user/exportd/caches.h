/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's server asks before it admits a client. There are three caches in /proc/net/rpc, each with a channel from
 * which questions are read, and to which answers are written (Linux, Documentation/filesystems/nfs/rpc-cache.rst). Here
 * a client's "domain" is its address, so each question names the client itself.
 */
#ifndef CACHES_H
#define CACHES_H

#include <stdbool.h>
#include <stddef.h>

#include "exports.h"

enum cache { CACHE_ADDRESS, CACHE_EXPORT, CACHE_HANDLE, CACHES };

enum { CACHE_LINE = 2048 };

/* The channels, in the order of enum cache */
extern const char *const cache_files[CACHES];
/* A number written to one of these flushes its cache */
extern const char *const cache_flushes[CACHES];

/*
 * Makes the answer to a question; both are lines with their newline. If access is denied, the answer is a negative
 * entry. Returns false if the question is malformed; the kernel then refuses by itself, later.
 */
bool cache_answer(enum cache cache, const struct exports *exports, const char *question, char *answer, size_t size);

/* Makes the line that fills a cache in advance, for `address` and the export of `rule` */
bool cache_foretell(enum cache cache, const struct export_rule *rule, uint32_t address, char *line, size_t size);

#endif
