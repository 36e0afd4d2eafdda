// SPDX-License-Identifier: Apache-2.0
/* Reads the settings */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

void settings_read(const char *file, void (*take)(void *context, const char *line), void *context)
{
	FILE *lines = fopen(file, "re");
	char line[1024];

	if (!lines) {
		log_line("%s: %s", file, strerror(errno));
		return;
	}
	while (fgets(line, sizeof line, lines)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0])
			take(context, line);
	}
	fclose(lines);
}
