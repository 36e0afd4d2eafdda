/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have what: the exports and, of each, the addresses that may mount it. What no rule names, nobody gets. An
 * export is a whole file system, so that a file handle that was made up can name nothing outside of it.
 */
#ifndef EXPORTS_H
#define EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EXPORT_RULES = 256,
	EXPORT_PATH = 256,
	/* Of the kernel's include/uapi/linux/nfsd/export.h */
	EXPORT_READ_ONLY = 1,
	EXPORT_ANY_PORT = 2,
	EXPORT_FLAGS = 0x7fff
};

struct export_rule {
	char path[EXPORT_PATH];
	uint32_t fsid;		    /* names the export in file handles; the same in all rules of a path */
	uint32_t flags;		    /* as the kernel has them */
	uint32_t anon_uid, anon_gid; /* who root of the client is */
	uint32_t address, mask;	    /* of the clients; host's byte order */
};

struct exports {
	struct export_rule rules[EXPORT_RULES];
	size_t count;
	bool version_4; /* of NFS is offered, and with it a root above all exports (root.h) */
};

/*
 * Takes "PATH FSID FLAGS UID GID ADDRESS/BITS", a line of /etc/nas.conf behind its first word. NULL, or what is wrong
 * with it.
 */
const char *exports_add(struct exports *exports, const char *line);

/* The rule by which `address` has the export `path`: the one with the longest mask, the first of such. NULL: none. */
const struct export_rule *exports_find(const struct exports *exports, const char *path, uint32_t address);
/* The same by the export's number */
const struct export_rule *exports_find_fsid(const struct exports *exports, uint32_t fsid, uint32_t address);
/* Whether `address` has any export */
bool exports_knows(const struct exports *exports, uint32_t address);

/*
 * The export that the folder `path` is in or is, for `address`. NULL if there is none, and for a path that is not
 * plain: relative, too long, or with a part "." or "..".
 */
const struct export_rule *exports_around(const struct exports *exports, const char *path, uint32_t address);

/* An IPv4 address in dots, nothing behind it; host's byte order. IPv6's form of one (::ffff:a.b.c.d) too. */
bool address_of(const char *text, uint32_t *address);
/* The other way round; text has 16 bytes */
void address_text(uint32_t address, char *text);

#endif
