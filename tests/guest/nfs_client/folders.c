// SPDX-License-Identifier: Apache-2.0
/* Folders are read while entries go, from the start again, and from places that were kept */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"

enum { FILES = 200, AT_ONCE = 4 };

static int fill_folder(const char *name)
{
	MUST(!mkdir(at(0, "%s", name), 0755));
	for (int i = 0; i < FILES; i++)
		MUST(make(at(0, "%s/file.%d", name, i), ""));
	return 0;
}

/* Reads all that is left: "." and ".." once each, and each of the files once unless it was removed */
static int see_all(DIR *folder, const bool *removed)
{
	int dots = 0, parents = 0, number;
	bool seen[FILES] = { false };
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".")) {
			dots++;
		} else if (!strcmp(entry->d_name, "..")) {
			parents++;
		} else {
			MUST(sscanf(entry->d_name, "file.%d", &number) == 1 && number >= 0 && number < FILES);
			MUST(!removed[number] && !seen[number]);
			seen[number] = true;
		}
	}
	MUST(dots == 1 && parents == 1);
	for (int i = 0; i < FILES; i++)
		MUST(seen[i] != removed[i]);
	return 0;
}

static int listing_while_files_go(void)
{
	static bool removed[FILES];
	DIR *folder;

	MUST_PASS(fill_folder("listing"));
	folder = opendir(at(0, "listing"));
	MUST(folder);
	for (int i = 0; i < FILES; i++) {
		if (i % 4 == 0) {
			rewinddir(folder);
			MUST_PASS(see_all(folder, removed));
		}
		MUST(!unlink(at(0, "listing/file.%d", i)));
		removed[i] = true;
	}
	rewinddir(folder);
	MUST_PASS(see_all(folder, removed));
	MUST(!closedir(folder) && !rmdir(at(0, "listing")));
	return 0;
}

/* In one run through the folder, each entry is removed as it is seen: none may be left out */
static int removing_while_listing(void)
{
	int count = 0;
	struct dirent *entry;
	DIR *folder;

	MUST_PASS(fill_folder("emptied"));
	folder = opendir(at(1, "emptied"));
	MUST(folder);
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.') {
			MUST(!unlink(at(1, "emptied/%s", entry->d_name)));
			count++;
		}
	MUST(!closedir(folder) && count == FILES && !rmdir(at(0, "emptied")));
	return 0;
}

/* From each place that telldir gave, the entry that followed it comes again; also when others before it are gone */
static int kept_places(void)
{
	static long places[FILES + 2];
	static char names[FILES + 2][32];
	int count = 0;
	struct dirent *entry;
	DIR *folder;

	MUST_PASS(fill_folder("places"));
	folder = opendir(at(0, "places"));
	MUST(folder);
	for (;;) {
		places[count < FILES + 2 ? count : 0] = telldir(folder);
		entry = readdir(folder);
		if (!entry)
			break;
		MUST(count < FILES + 2 && strlen(entry->d_name) < sizeof names[0]);
		strcpy(names[count++], entry->d_name);
	}
	MUST(count == FILES + 2);
	places[0] = (rewinddir(folder), telldir(folder));
	for (int i = count - 1; i >= 0; i--) {
		seekdir(folder, places[i]);
		entry = readdir(folder);
		MUST(entry && !strcmp(entry->d_name, names[i]));
	}
	for (int i = 1; i < count; i += 2)
		MUST(names[i][0] == '.' || !unlink(at(0, "places/%s", names[i])));
	for (int i = 0; i < count; i += 2) {
		seekdir(folder, places[i]);
		entry = readdir(folder);
		MUST(entry && !strcmp(entry->d_name, names[i]));
	}
	MUST(!closedir(folder));
	for (int i = 0; i < count; i += 2)
		MUST(names[i][0] == '.' || !unlink(at(0, "places/%s", names[i])));
	MUST(!rmdir(at(0, "places")));
	return 0;
}

/* Each of several processes makes, or removes, its part of them: a single one would wait for each answer */
static bool by_several(bool remove)
{
	pid_t children[AT_ONCE];
	bool done = true;

	for (int part = 0; part < AT_ONCE; part++) {
		children[part] = fork();
		for (int i = part; !children[part] && i < many; i += AT_ONCE) {
			const char *path = at(0, "many/a rather long name of a file %d", i);
			int file = remove ? unlink(path) : open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

			if (file < 0 || (!remove && close(file)))
				_exit(1);
		}
		if (!children[part])
			_exit(0);
	}
	for (int part = 0; part < AT_ONCE; part++)
		done = ended_well(children[part]) && done;
	return done;
}

static int many_files(void)
{
	char *seen = calloc(1, (size_t)many);
	struct dirent *entry;
	int count = 0, number;
	DIR *folder;

	MUST(seen && !mkdir(at(0, "many"), 0755) && by_several(false));
	folder = opendir(at(1, "many"));
	MUST(folder);
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		MUST(sscanf(entry->d_name, "a rather long name of a file %d", &number) == 1);
		MUST(number >= 0 && number < many && !seen[number]++);
		count++;
	}
	MUST(!closedir(folder) && count == many && by_several(true) && !rmdir(at(0, "many")));
	free(seen);
	return 0;
}

const struct nfs_case folder_cases[] = {
	{ "listing_while_files_go", listing_while_files_go },
	{ "removing_while_listing", removing_while_listing },
	{ "kept_places", kept_places },
	{ "many_files", many_files },
	{ NULL, NULL },
};
