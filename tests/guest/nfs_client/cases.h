/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases share: the two mounts, files by name in them, and how a case says that something is not as it must be */
#ifndef CASES_H
#define CASES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A case returns 0, or the line of the first thing that is not as it must be; errno says more */
#define MUST(condition) \
	do { \
		errno = 0; \
		if (!(condition)) \
			return __LINE__; \
	} while (0)

/* The same for what is itself such a function */
#define MUST_PASS(call) \
	do { \
		int line_of_it = (call); \
\
		if (line_of_it) \
			return line_of_it; \
	} while (0)

struct nfs_case {
	const char *name;
	int (*run)(void);
};

/* Each ends with a case without a name */
extern const struct nfs_case basic_cases[], folder_cases[], general_cases[], special_cases[], size_cases[];
extern const struct nfs_case content_cases[], lock_cases[], far_lock_cases[], waiting_cases[], many_lock_cases[];
extern const struct nfs_case again_cases[], datagram_cases[], cut_cases[];

/* From the command line: the version of NFS, how many files the largest folder has, and whom to ask */
extern int nfs_version, many;
extern const char *server_address;

/* "NAME" formatted, below one of the two mounts. Eight of them can be held at a time. */
__attribute__((format(printf, 2, 3))) char *at(int mount, const char *format, ...);

/* Makes a file with this text. True if that went well, as in all below. */
bool make(const char *path, const char *content);
bool holds(const char *path, const char *content);
bool is_there(const char *path);
long long size_of(const char *path); /* -1: is not there */
long links_of(const char *path);
bool is_missing(const char *path); /* as the server says, not for another reason */
int entries_in(const char *path);  /* without "." and ".." */
void fill(unsigned char *bytes, size_t length, unsigned seed);

/* Waits for a child: true if it ended by itself with status 0 */
bool ended_well(pid_t child);

#endif
