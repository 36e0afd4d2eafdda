// SPDX-License-Identifier: Apache-2.0
/* Software RAID, by the ioctls of the kernel's md driver (Linux, include/uapi/linux/raid/md_u.h) */
#include "mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/major.h>
#include <linux/raid/md_p.h>
#include <linux/raid/md_u.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disks.h"
#include "log.h"
#include "superblock.h"
#include "words.h"

enum { WAIT_MS = 3000, NAME = 64, ARRAYS = 4, MIRRORED = 1, CLEAN = 1, ACTIVE_IN_SYNC = 6 };

static int arrays[ARRAYS], array_count;

struct member {
	char name[NAME];
	uint64_t bytes;
	dev_t device;
	bool has, empty;
	struct superblock superblock;
};

/* False if the member is missing, which an array may survive */
static bool look(struct member *member)
{
	struct stat found;
	int file;

	if (!disk_wait(member->name, WAIT_MS) || (file = open(member->name, O_RDONLY | O_CLOEXEC)) < 0) {
		log_line("%s: is not there", member->name);
		return false;
	}
	if (fstat(file, &found) || ioctl(file, BLKGETSIZE64, &member->bytes))
		member->bytes = 0;
	member->device = found.st_rdev;
	member->has = superblock_of(file, member->bytes, &member->superblock);
	member->empty = !member->has && superblock_of_none(file, member->bytes);
	close(file);
	return member->bytes > 0;
}

static bool add(int array, const struct member *member, int number, int state)
{
	mdu_disk_info_t disk = { .number = number, .raid_disk = number, .state = state };

	disk.major = (int)major(member->device);
	disk.minor = (int)minor(member->device);
	if (!ioctl(array, ADD_NEW_DISK, &disk))
		return true;
	log_line("%s: is not taken into the array: %s", member->name, strerror(errno));
	return false;
}

static bool assemble(int array, const struct member *members, int count)
{
	mdu_array_info_t info = { 0 };
	int added = 0;

	for (int i = 0; i < count; i++) {
		if (!members[i].has)
			continue;
		if (!added) {
			info.major_version = members[i].superblock.major;
			info.minor_version = members[i].superblock.minor;
			if (ioctl(array, SET_ARRAY_INFO, &info))
				return false;
		}
		added += add(array, &members[i], i, 0);
	}
	return added && !ioctl(array, RUN_ARRAY, NULL);
}

static bool create(int array, int number, const struct member *members, int count)
{
	mdu_array_info_t info = { .level = MIRRORED, .raid_disks = count, .nr_disks = count, .active_disks = count };

	for (int i = 0; i < count; i++)
		if (!superblock_may_have(members[i].bytes)) {
			log_line("%s: is too large for a mirror: 4 TiB at most", members[i].name);
			return false;
		}
	info.minor_version = 90;
	info.md_minor = number;
	info.working_disks = count;
	info.state = CLEAN;
	/* info.size stays 0, so the kernel uses the size of the smallest member: an int of KiB ends at 2 TiB */
	if (ioctl(array, SET_ARRAY_INFO, &info))
		return false;
	for (int i = 0; i < count; i++)
		if (!add(array, &members[i], i, ACTIVE_IN_SYNC))
			return false;
	return !ioctl(array, RUN_ARRAY, NULL);
}

/* If members belong to different arrays, the wanted one is unknown, and the other's data would be lost */
static bool are_of_one(const struct member *members, int count)
{
	const struct member *first = NULL;

	for (int i = 0; i < count; i++) {
		if (!members[i].has)
			continue;
		if (!first)
			first = &members[i];
		if (memcmp(first->superblock.array, members[i].superblock.array, SUPERBLOCK_ARRAY)) {
			log_line("%s and %s are of two arrays: neither is touched", first->name, members[i].name);
			return false;
		}
	}
	return true;
}

static bool is_in(int array, dev_t device)
{
	for (int number = 0; number < MD_SB_DISKS; number++) {
		mdu_disk_info_t disk = { .number = number };

		if (!ioctl(array, GET_DISK_INFO, &disk) && disk.state & 1 << MD_DISK_ACTIVE &&
		    makedev((unsigned)disk.major, (unsigned)disk.minor) == device)
			return true;
	}
	return false;
}

/* Rebuilds a returned member, and an empty disk in its place */
static void add_again(int array, const struct member *members, int count)
{
	for (int i = 0; i < count; i++) {
		if (is_in(array, members[i].device))
			continue;
		if (!members[i].has && !members[i].empty)
			log_line("%s: is no member, and not empty: it is left alone", members[i].name);
		else if (!ioctl(array, HOT_ADD_DISK, (unsigned long)members[i].device))
			log_line("%s: is taken in again, and filled", members[i].name);
		else
			log_line("%s: is not taken in again: %s", members[i].name, strerror(errno));
	}
}

static int open_array(const char *name)
{
	int parameter = open("/sys/module/md_mod/parameters/new_array", O_WRONLY | O_CLOEXEC);
	char path[NAME + 8];

	if (parameter < 0 || write(parameter, name, strlen(name)) < 0)
		log_line("%s: cannot be made: %s", name, strerror(errno));
	if (parameter >= 0)
		close(parameter);
	snprintf(path, sizeof path, "/dev/%s", name);
	return disk_wait(path, WAIT_MS) ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

bool mirror_start(const char *line)
{
	struct member members[MIRROR_MEMBERS] = { 0 };
	char name[NAME], how[16];
	int wanted = 0, found = 0, with = 0, number, array;
	bool done;

	if (words_next(&line, name, sizeof name) <= 0 || sscanf(name, "md%d", &number) != 1 ||
	    words_next(&line, how, sizeof how) <= 0 || array_count == ARRAYS)
		return false;
	while (found < MIRROR_MEMBERS && words_next(&line, members[found].name, NAME) > 0) {
		wanted++;
		if (look(&members[found])) {
			with += members[found].has;
			found++;
		}
	}
	if (!are_of_one(members, found))
		return false;
	array = open_array(name);
	if (array < 0)
		return false;
	if (with)
		done = assemble(array, members, found);
	else
		done = !strcmp(how, "create") && found == wanted && create(array, number, members, found);
	if (done && with)
		add_again(array, members, found);
	if (done)
		log_line("%s runs on %d of %d disks", name, with ? with : found, wanted);
	else
		log_line("%s does not run: %d of %d disks are there, %d with a superblock: %s", name, found, wanted,
			 with, strerror(errno));
	arrays[array_count++] = array;
	return done;
}

void mirror_stop_all(void)
{
	while (array_count) {
		ioctl(arrays[--array_count], STOP_ARRAY, NULL);
		close(arrays[array_count]);
	}
}
