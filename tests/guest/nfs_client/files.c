// SPDX-License-Identifier: Apache-2.0
/* Files by name, in the two mounts */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

char *at(int mount, const char *format, ...)
{
	static char paths[8][512];
	static int next;
	char *path = paths[next++ % 8];
	int used = snprintf(path, sizeof paths[0], "/run/%c/", "ab"[mount]);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path + used, sizeof paths[0] - (size_t)used, format, arguments);
	va_end(arguments);
	return path;
}

bool make(const char *path, const char *content)
{
	int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	bool written = file >= 0 && write(file, content, strlen(content)) == (ssize_t)strlen(content);

	return !close(file) && written;
}

bool holds(const char *path, const char *content)
{
	char found[4096] = "";
	int file = open(path, O_RDONLY), length = file < 0 ? -1 : (int)read(file, found, sizeof found - 1);

	if (file >= 0)
		close(file);
	return length == (int)strlen(content) && !strcmp(found, content);
}

bool is_there(const char *path)
{
	struct stat found;

	return !lstat(path, &found);
}

long long size_of(const char *path)
{
	struct stat found;

	return stat(path, &found) ? -1 : (long long)found.st_size;
}

long links_of(const char *path)
{
	struct stat found;

	return lstat(path, &found) ? -1 : (long)found.st_nlink;
}

bool is_missing(const char *path)
{
	struct stat found;

	return lstat(path, &found) && errno == ENOENT;
}

int entries_in(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int count = 0;

	if (!folder)
		return -1;
	while ((entry = readdir(folder)))
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(folder);
	return count;
}

void fill(unsigned char *bytes, size_t length, unsigned seed)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (unsigned char)(seed * 7 + i / 251 + i);
}

bool ended_well(pid_t child)
{
	int status = -1;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}
