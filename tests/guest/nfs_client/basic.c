// SPDX-License-Identifier: Apache-2.0
/* The first things: trees, attributes, content, links, symbolic links, the whole system, and crossing the mount point */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cases.h"

enum { MEGABYTE = 1 << 20, BLOCK = 8192, LEVELS = 4, FOLDERS = 2, FILES = 5 };

static int files_and_folders(void)
{
	struct stat found;

	MUST(!mkdir(at(0, "folder"), 0755));
	MUST(mkdir(at(0, "folder"), 0755) && errno == EEXIST);
	MUST(make(at(0, "folder/file"), "one"));
	MUST(holds(at(1, "folder/file"), "one"));
	MUST(!stat(at(0, "folder/file"), &found) && found.st_size == 3 && S_ISREG(found.st_mode));
	MUST(!chmod(at(0, "folder/file"), 0600) && !stat(at(0, "folder/file"), &found));
	MUST((found.st_mode & 07777) == 0600);
	MUST(!symlink("file", at(0, "folder/link")) && holds(at(0, "folder/link"), "one"));
	MUST(!link(at(0, "folder/file"), at(0, "folder/second")) && links_of(at(0, "folder/second")) == 2);
	MUST(rmdir(at(0, "folder")) && errno == ENOTEMPTY);
	MUST(!unlink(at(0, "folder/link")) && !unlink(at(0, "folder/second")) && !unlink(at(0, "folder/file")));
	MUST(!rmdir(at(0, "folder")) && is_missing(at(0, "folder")));
	return 0;
}

/* Makes, or removes, what is below `path`; every folder has the same. Returns how many there were, or -1. */
static int grow(const char *path, int levels, bool remove)
{
	char name[256];
	int count = 0, below;

	for (int i = 0; i < FILES; i++, count++) {
		snprintf(name, sizeof name, "%s/file.%d", path, i);
		if (remove ? unlink(name) : !make(name, name))
			return -1;
	}
	for (int i = 0; levels && i < FOLDERS; i++) {
		snprintf(name, sizeof name, "%s/folder.%d", path, i);
		if ((!remove && mkdir(name, 0755)) || (below = grow(name, levels - 1, remove)) < 0 ||
		    (remove && rmdir(name)))
			return -1;
		count += 1 + below;
	}
	return count;
}

static int a_tree(void)
{
	int made;

	MUST(!mkdir(at(0, "tree"), 0755));
	made = grow(at(0, "tree"), LEVELS, false);
	MUST(made == 31 * FILES + 30);
	MUST(entries_in(at(1, "tree/folder.1/folder.0")) == FILES + FOLDERS && links_of(at(1, "tree")) == 2 + FOLDERS);
	MUST(holds(at(1, "tree/folder.0/file.4"), at(0, "tree/folder.0/file.4")));
	MUST(grow(at(1, "tree"), LEVELS, true) == made); /* by the other mount */
	MUST(entries_in(at(0, "tree")) == 0 && !rmdir(at(0, "tree")));
	return 0;
}

/* Over the border between the first file system and the server's, and back */
static int the_mount_point(void)
{
	char path[256];
	struct stat root, above, here;

	MUST(!mkdir(at(0, "below"), 0755) && !stat("/run", &above) && !stat("/run/a", &root));
	MUST(above.st_dev != root.st_dev);
	for (int i = 0; i < 50; i++) {
		MUST(!chdir("/run/a/below") && getcwd(path, sizeof path) && !strcmp(path, "/run/a/below"));
		MUST(!stat("..", &here) && here.st_ino == root.st_ino && here.st_dev == root.st_dev);
		MUST(!chdir("..") && getcwd(path, sizeof path) && !strcmp(path, "/run/a"));
		MUST(!stat("..", &here) && here.st_ino == above.st_ino && here.st_dev == above.st_dev);
		MUST(!stat("../b/below", &here) && S_ISDIR(here.st_mode));
		MUST(!chdir("..") && getcwd(path, sizeof path) && !strcmp(path, "/run"));
	}
	MUST(!chdir("/") && !rmdir(at(0, "below")));
	return 0;
}

static int attributes(void)
{
	static const mode_t modes[] = { 0, 0666, 0400, 0751, 0644 };
	struct stat found;

	MUST(!mkdir(at(0, "attributes"), 0755));
	for (int i = 0; i < 10; i++)
		MUST(make(at(0, "attributes/%d", i), ""));
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < 10; i++)
			for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
				MUST(!chmod(at(0, "attributes/%d", i), modes[k]));
				MUST(!stat(at(k % 2, "attributes/%d", i), &found));
				MUST((found.st_mode & 07777) == modes[k] && S_ISREG(found.st_mode) && !found.st_size);
			}
	MUST(!chmod(at(0, "attributes"), 0700) && !stat(at(1, "attributes"), &found));
	MUST((found.st_mode & 07777) == 0700);
	MUST(chmod(at(0, "attributes/none"), 0644) && errno == ENOENT);
	for (int i = 0; i < 10; i++)
		MUST(!unlink(at(0, "attributes/%d", i)));
	MUST(!rmdir(at(0, "attributes")));
	return 0;
}

/* A megabyte, in writes of 8 KB; its size is looked at before, during and after */
static int content(void)
{
	static unsigned char block[BLOCK], found[BLOCK];
	const char *path = at(0, "megabyte"), *other = at(1, "megabyte");
	int file;

	for (int round = 0; round < 2; round++) {
		file = creat(path, 0666);
		MUST(file >= 0 && size_of(path) == 0 && size_of(other) == 0);
		for (int i = 0; i < MEGABYTE / BLOCK; i++) {
			fill(block, BLOCK, (unsigned)(round + i));
			MUST(write(file, block, BLOCK) == BLOCK);
			if (i % 32 == 0)
				MUST(size_of(path) == (i + 1) * BLOCK);
		}
		MUST(!close(file) && size_of(path) == MEGABYTE && size_of(other) == MEGABYTE);
		file = open(other, O_RDONLY);
		for (int i = 0; i < MEGABYTE / BLOCK; i++) {
			fill(block, BLOCK, (unsigned)(round + i));
			MUST(read(file, found, BLOCK) == BLOCK && !memcmp(block, found, BLOCK));
		}
		MUST(read(file, found, BLOCK) == 0 && !close(file));
	}
	MUST(!unlink(path));
	return 0;
}

static int links_and_renames(void)
{
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < 10; i++) {
			const char *old = at(0, "old.%d", i), *new = at(0, "new.%d", i), *there = at(1, "new.%d", i);

			MUST(make(old, "x") && !rename(old, new) && is_missing(old) && links_of(new) == 1);
			MUST(!link(new, old) && links_of(new) == 2 && links_of(old) == 2 && links_of(there) == 2);
			MUST(link(new, old) && errno == EEXIST);
			MUST(!unlink(old) && is_missing(old) && links_of(new) == 1 && links_of(there) == 1);
			MUST(rename(old, new) && errno == ENOENT);
			MUST(link(old, new) && errno == ENOENT);
			MUST(!unlink(new) && is_missing(there));
		}
	return 0;
}

static int renames(void)
{
	MUST(make(at(0, "from"), "from") && make(at(0, "to"), "to") && !mkdir(at(0, "below"), 0755));
	MUST(!rename(at(0, "from"), at(0, "to")) && holds(at(0, "to"), "from"));
	MUST(is_missing(at(0, "from")));
	MUST(!rename(at(0, "to"), at(0, "below/to")) && holds(at(0, "below/to"), "from"));
	MUST(rename(at(0, "below"), at(0, "below/inside")) && errno == EINVAL);
	MUST(!rename(at(0, "below"), at(0, "above")) && holds(at(0, "above/to"), "from"));
	MUST(!mkdir(at(0, "empty"), 0755) && make(at(0, "file"), "file"));
	MUST(rename(at(0, "empty"), at(0, "above")) && (errno == ENOTEMPTY || errno == EEXIST));
	MUST(rename(at(0, "file"), at(0, "empty")) && errno == EISDIR);
	MUST(rename(at(0, "empty"), at(0, "file")) && errno == ENOTDIR);
	MUST(!rename(at(0, "above"), at(0, "empty")) && holds(at(1, "empty/to"), "from"));
	MUST(!unlink(at(0, "file")) && !unlink(at(0, "empty/to")) && !rmdir(at(0, "empty")));
	return 0;
}

static int symbolic_links(void)
{
	char target[1024] = "", found[1100];
	struct stat about;

	memset(target, 'd', 1000);
	for (int i = 100; i < 1000; i += 100)
		target[i] = '/';
	for (int i = 0; i < 40; i++) {
		const char *path = at(0, "link.%d", i), *other = at(1, "link.%d", i);
		const char *where = i % 2 ? "/nowhere/this path does not exist" : target;
		ssize_t length = (ssize_t)strlen(where);

		MUST(!symlink(where, path) && symlink(where, path) && errno == EEXIST);
		MUST(!lstat(other, &about) && S_ISLNK(about.st_mode) && about.st_size == length);
		memset(found, 0, sizeof found);
		MUST(readlink(other, found, sizeof found) == length && !strcmp(found, where));
		MUST(open(path, O_RDONLY) < 0 && errno == ENOENT);
		MUST(!unlink(path) && is_missing(other));
	}
	return 0;
}

static int whole_system(void)
{
	struct statvfs first, now;

	MUST(!statvfs("/run/a", &first) && first.f_blocks > 0 && first.f_bsize > 0 && first.f_namemax == 255);
	for (int i = 0; i < 100; i++) {
		MUST(!statvfs(i % 2 ? "/run/a" : "/run/b", &now));
		MUST(now.f_blocks * now.f_frsize == first.f_blocks * first.f_frsize);
		MUST(now.f_bavail <= now.f_bfree && now.f_bfree < now.f_blocks);
		MUST(nfs_version == 2 || (now.f_files == first.f_files && now.f_ffree && now.f_ffree < now.f_files));
	}
	return 0;
}

const struct nfs_case basic_cases[] = {
	{ "files_and_folders", files_and_folders },
	{ "a_tree", a_tree },
	{ "the_mount_point", the_mount_point },
	{ "attributes", attributes },
	{ "content", content },
	{ "links_and_renames", links_and_renames },
	{ "renames", renames },
	{ "symbolic_links", symbolic_links },
	{ "whole_system", whole_system },
	{ NULL, NULL },
};
