// SPDX-License-Identifier: Apache-2.0
/* Each KB begins with its file's number and its position; its other bytes follow from them */
#include <string.h>

#include "content.h"

enum { KB = 1024 };

struct stamp {
	uint32_t magic, file;
	uint64_t place;
};

static struct stamp stamp_of(uint32_t file, uint64_t place)
{
	return (struct stamp) { .magic = 0x53465331, .file = file, .place = place };
}

void content_fill(uint8_t *bytes, uint32_t file, uint64_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++, bytes += KB) {
		struct stamp stamp = stamp_of(file, from + i);

		memset(bytes, (int)(file + from + i), KB);
		memcpy(bytes, &stamp, sizeof(stamp));
	}
}

bool content_is(const uint8_t *bytes, uint32_t file, uint64_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++, bytes += KB) {
		struct stamp stamp = stamp_of(file, from + i);

		if (memcmp(bytes, &stamp, sizeof(stamp)) || bytes[KB - 1] != (uint8_t)(file + from + i))
			return false;
	}
	return true;
}
