// SPDX-License-Identifier: GPL-2.0-only
/* What the core wants from a program of the host. */
#include <stdarg.h>

#include "../core/platform.h"

bool y2_quiet;

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
