// SPDX-License-Identifier: Apache-2.0
/* Reports arrays that lose a disk, and rebuilds */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "mirror.h"

enum { SIZE = 2048, REBUILD_MS = 10000, QUIET_MS = 60000 };

/* Joins the lines of one array; its first line begins with its name, others with spaces */
static char *next_array(char **text)
{
	char *begin = strstr(*text, "md"), *end;

	if (!begin)
		return NULL;
	for (end = begin; *end && !(end[0] == '\n' && end[1] != ' '); end++)
		if (*end == '\n')
			*end = ' ';
	*text = *end ? end + 1 : end;
	*end = '\0';
	return begin;
}

void mirror_watch(void)
{
	static char before[SIZE], text[SIZE], parts[SIZE];
	int file = open("/proc/mdstat", O_RDONLY | O_CLOEXEC);

	for (;;) {
		struct pollfd polled = { file, POLLPRI, 0 };
		ssize_t length = pread(file, text, SIZE - 1, 0);
		char *from, *array;

		if (length < 0)
			return;
		text[length] = '\0';
		if (strcmp(text, before)) {
			strcpy(before, text);
			strcpy(parts, text);
			from = strchr(parts, '\n'); /* the first line lists the RAID levels */
			while (from && (array = next_array(&from)))
				log_line("%s", array);
		}
		poll(&polled, 1, strstr(text, "recovery") ? REBUILD_MS : QUIET_MS);
	}
}
