// SPDX-License-Identifier: GPL-2.0-only
/* What the core wants from a program of the host: memory, warnings and the CRC of host_linux/linux.h. */
#include <stdarg.h>

#include "../core/platform.h"

bool y2_quiet;

u32 crc32_le(u32 crc, const u8 *bytes, size_t count)
{
	while (count--) {
		crc ^= *bytes++;
		for (u32 bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

void *y2_zalloc(size_t bytes)
{
	return calloc(1, bytes);
}

void y2_free(const void *memory)
{
	free((void *)memory);
}

void y2_warn(const char *format, ...)
{
	va_list arguments;

	if (y2_quiet)
		return;
	va_start(arguments, format);
	fputs("yaffs2: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}
