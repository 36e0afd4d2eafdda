// SPDX-License-Identifier: Apache-2.0
/* Names of NFS's status numbers (RFC 1094, 2.3.1; RFC 1813, 2.6) */
#include <stdio.h>

#include "nfs.h"

static const struct {
	uint32_t number;
	const char *name;
} statuses[] = {
	{ 0, "ok" },
	{ 1, "not-owner" },
	{ 2, "no-entry" },
	{ 5, "input-output" },
	{ 6, "no-device" },
	{ 13, "access-denied" },
	{ 17, "exists" },
	{ 18, "cross-device" },
	{ 19, "no-such-device" },
	{ 20, "not-a-directory" },
	{ 21, "is-a-directory" },
	{ 22, "invalid" },
	{ 27, "too-large" },
	{ 28, "no-space" },
	{ 30, "read-only" },
	{ 31, "too-many-links" },
	{ 63, "name-too-long" },
	{ 66, "not-empty" },
	{ 69, "quota" },
	{ 70, "stale" },
	{ 71, "too-remote" },
	{ 10001, "bad-handle" },
	{ 10002, "not-in-step" },
	{ 10003, "bad-cookie" },
	{ 10004, "not-supported" },
	{ 10005, "too-small" },
	{ 10006, "server-fault" },
	{ 10007, "bad-type" },
	{ 10008, "jukebox" },
};

const char *nfs_status_name(uint32_t status)
{
	static char other[32];

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		if (statuses[i].number == status)
			return statuses[i].name;
	snprintf(other, sizeof(other), "status-%u", status);
	return other;
}
