// SPDX-License-Identifier: Apache-2.0
/* Disks and their mounts */
#include "disks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

enum { MOST = 16, NAME = 256 };

static char mounted[MOST][NAME];
static int count;

bool disk_wait(const char *device, int wait_ms)
{
	for (;; wait_ms -= 20) {
		int file = open(device, O_RDONLY | O_CLOEXEC);

		if (file >= 0) {
			close(file);
			return true;
		}
		if (wait_ms <= 0)
			return false;
		usleep(20000);
	}
}

bool disk_mount(const char *device, const char *folder, const char *kind, const char *options, bool read_only)
{
	unsigned long flags = MS_NODEV | MS_NOSUID | MS_NOEXEC | MS_NOATIME | (read_only ? MS_RDONLY : 0);

	if (count == MOST) {
		log_line("%s: more than %d disks", device, MOST);
		return false;
	}
	mkdir(folder, 0755);
	if (mount(device, folder, kind, flags, options)) {
		log_line("%s: cannot be mounted at %s as %s: %s", device, folder, kind, strerror(errno));
		return false;
	}
	snprintf(mounted[count++], NAME, "%s", folder);
	log_line("%s is at %s, %s%s", device, folder, kind, read_only ? ", read-only" : "");
	return true;
}

void disks_leave(void)
{
	while (count--)
		if (umount(mounted[count]) && mount("", mounted[count], "", MS_REMOUNT | MS_RDONLY, NULL))
			log_line("%s: is still busy: %s", mounted[count], strerror(errno));
	count = 0;
	sync();
}
