/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access control: the exports, and the addresses that may mount each. Without a rule there is no access. An export is a
 * whole file system, so that a forged file handle cannot name anything outside of it.
 */
#ifndef EXPORTS_H
#define EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EXPORT_RULES = 256,
	EXPORT_PATH = 256,
	/* From the kernel's include/uapi/linux/nfsd/export.h */
	EXPORT_READ_ONLY = 1,
	EXPORT_ANY_PORT = 2,
	EXPORT_FLAGS = 0x7fff
};

struct export_rule {
	char path[EXPORT_PATH];
	uint32_t fsid;		    /* identifies the export in file handles; the same in all rules of a path */
	uint32_t flags;		    /* the kernel's flags */
	uint32_t anon_uid, anon_gid; /* the identity of a client's root */
	uint32_t address, mask;	    /* of the clients; host byte order */
};

struct exports {
	struct export_rule rules[EXPORT_RULES];
	size_t count;
	bool version_4; /* NFS version 4 is offered, with a root above all exports (root.h) */
};

/*
 * Parses "PATH FSID FLAGS UID GID ADDRESS/BITS", a line of /etc/nas.conf behind its first word. Returns NULL, or the
 * error.
 */
const char *exports_add(struct exports *exports, const char *line);

/* The rule for the export `path` and `address`: the one with the longest mask, the first among equals. NULL: none. */
const struct export_rule *exports_find(const struct exports *exports, const char *path, uint32_t address);
/* The rule for the export with a number */
const struct export_rule *exports_find_fsid(const struct exports *exports, uint32_t fsid, uint32_t address);
/* True if `address` has any export */
bool exports_knows(const struct exports *exports, uint32_t address);

/*
 * The export that contains the directory `path`, for `address`. NULL if there is none, and for a path that is not
 * plain: relative, too long, or with a component "." or "..".
 */
const struct export_rule *exports_around(const struct exports *exports, const char *path, uint32_t address);

/* Parses a dotted IPv4 address to host byte order. Also accepts its IPv6 form (::ffff:a.b.c.d). */
bool address_of(const char *text, uint32_t *address);
/* Formats an address; text has 16 bytes */
void address_text(uint32_t address, char *text);

#endif
