// SPDX-License-Identifier: Apache-2.0
/* Commands typed at a console without a shell */
#include "keyboard.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

int keyboard_signal(const char *line)
{
	static const struct {
		const char *word;
		int number;
	} known[] = { { "poweroff", SIGUSR2 }, { "reboot", SIGTERM }, { "halt", SIGUSR1 } };
	size_t length = strcspn(line, "\r\n");

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].word) == length && !strncmp(line, known[i].word, length))
			return known[i].number;
	return 0;
}

void keyboard_run(void)
{
	FILE *console = fopen("/dev/console", "re");
	char line[64];

	while (console && fgets(line, sizeof line, console)) {
		int number = keyboard_signal(line);

		if (number)
			kill(1, number);
	}
}
