// SPDX-License-Identifier: Apache-2.0
/* The published mixes of SPEC SFS 2.0 (NFS version 2), SFS 2.0 and 3.0 (version 3) and SFS2008 (version 3) */
#include <string.h>

#include "mix.h"

static const struct mix mixes[] = {
	{
		.name = "sfs2-v2",
		.version = 2,
		.percent = {
			[OP_LOOKUP] = 36, [OP_READ] = 14, [OP_WRITE] = 7, [OP_GETATTR] = 26, [OP_READLINK] = 7,
			[OP_READDIR] = 6, [OP_CREATE] = 1, [OP_REMOVE] = 1, [OP_FSSTAT] = 1, [OP_SETATTR] = 1,
		},
	},
	{
		.name = "sfs2-v3",
		.version = 3,
		.percent = {
			[OP_LOOKUP] = 27, [OP_READ] = 18, [OP_WRITE] = 9, [OP_GETATTR] = 11, [OP_READLINK] = 7,
			[OP_READDIR] = 2, [OP_CREATE] = 1, [OP_REMOVE] = 1, [OP_FSSTAT] = 1, [OP_SETATTR] = 1,
			[OP_READDIRPLUS] = 9, [OP_ACCESS] = 7, [OP_COMMIT] = 5, [OP_FSINFO] = 1,
		},
	},
	{
		.name = "sfs2008-v3",
		.version = 3,
		.percent = {
			[OP_LOOKUP] = 24, [OP_READ] = 18, [OP_WRITE] = 10, [OP_GETATTR] = 26, [OP_READLINK] = 1,
			[OP_READDIR] = 1, [OP_CREATE] = 1, [OP_REMOVE] = 1, [OP_FSSTAT] = 1, [OP_SETATTR] = 4,
			[OP_READDIRPLUS] = 2, [OP_ACCESS] = 11,
		},
	},
};

enum { MIXES = sizeof(mixes) / sizeof(*mixes) };

const struct mix *mix_number(unsigned int number)
{
	return number < MIXES ? &mixes[number] : NULL;
}

const struct mix *mix_find(const char *name)
{
	for (unsigned int i = 0; i < MIXES; i++)
		if (!strcmp(mixes[i].name, name))
			return &mixes[i];
	return NULL;
}

const struct mix *mix_of_version(uint32_t version)
{
	for (unsigned int i = 0; i < MIXES; i++)
		if (mixes[i].version == version)
			return &mixes[i];
	return NULL;
}
