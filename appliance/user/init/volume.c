// SPDX-License-Identifier: Apache-2.0
/* Activates volumes */
#include "volume.h"

#include <unistd.h>

#include "log.h"
#include "program.h"
#include "words.h"

enum { NAME = 128, WAIT_MS = 5000, PAUSE_MS = 500 };

/*
 * Only a group's disks tell which disks it has, so this searches until the group is complete. --sysinit: do not contact
 * a monitoring daemon; there is none.
 */
bool volume_start(const char *line)
{
	char name[NAME];
	const char *const activate[] = { "/sbin/lvm", "lvchange", "--activate", "y", "--sysinit", name, NULL };

	if (words_next(&line, name, sizeof name) <= 0)
		return false;
	for (int left = WAIT_MS; left > 0; left -= PAUSE_MS) {
		if (!program_run(activate, false))
			return true;
		usleep(PAUSE_MS * 1000);
	}
	if (!program_run(activate, true))
		return true;
	log_line("%s: is no volume that can be used", name);
	return false;
}
