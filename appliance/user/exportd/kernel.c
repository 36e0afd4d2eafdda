// SPDX-License-Identifier: Apache-2.0
/* The kernel's NFS server, from user space */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "monotonic.h"
#include "words.h"

static const char HANDLES[] = "/proc/fs/nfsd/filehandle";

/* The maximum over all caches: some 400 KB, and more than the clients and exports of a small network need */
enum { MOST_ENTRIES = 2000, MS_BETWEEN = 1100 };
static int entries = MOST_ENTRIES; /* an earlier exportd may have left as many */

bool kernel_has_disk_at(const char *path)
{
	struct stat root, found;

	return !stat("/", &root) && !stat(path, &found) && found.st_dev != root.st_dev;
}

bool kernel_open(int channels[CACHES])
{
	bool all = true;

	for (int cache = 0; cache < CACHES; cache++) {
		channels[cache] = open(cache_files[cache], O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (channels[cache] >= 0)
			continue;
		log_line("%s: %s; is the NFS server's module loaded?", cache_files[cache], strerror(errno));
		all = false;
	}
	return all;
}

/*
 * The kernel keeps each answer, and callers can make it ask for new ones each time, by forged addresses or handles. So
 * the caches are flushed when they have MOST_ENTRIES entries; entries in use are asked for again. A flush works once a
 * second: a second one has its flush time in the future, and removes nothing. Until then no question is answered, and
 * the server's threads wait.
 */
static void make_room(int count)
{
	static long long emptied_ms = -MS_BETWEEN;
	long long wait = emptied_ms + MS_BETWEEN - now_ms();

	entries += count;
	if (entries <= MOST_ENTRIES)
		return;
	if (wait > 0)
		poll(NULL, 0, (int)wait);
	for (int cache = 0; cache < CACHES; cache++) {
		int file = open(cache_flushes[cache], O_WRONLY | O_CLOEXEC);

		if (file < 0 || write(file, "1\n", 2) < 0)
			log_line("%s: %s", cache_flushes[cache], strerror(errno));
		if (file >= 0)
			close(file);
	}
	entries = count;
	emptied_ms = now_ms();
}

void kernel_answer(int channel, enum cache cache, const struct exports *exports)
{
	char question[CACHE_LINE + 1], answer[CACHE_LINE];
	ssize_t length = read(channel, question, CACHE_LINE);

	if (length <= 0)
		return;
	question[length] = '\0';
	make_room(1);
	if (!cache_answer(cache, exports, question, answer, sizeof answer))
		log_untrusted("a question of the kernel is not understood: %s", question);
	else if (write(channel, answer, strlen(answer)) < 0)
		log_line("the kernel does not take the answer %s: %s", answer, strerror(errno));
}

/* The caches require a separate write for each line */
static bool tell(enum cache cache, const char *line)
{
	int file = open(cache_files[cache], O_WRONLY | O_CLOEXEC);
	bool told = file >= 0 && write(file, line, strlen(line)) >= 0;

	if (!told)
		log_line("%s: %s", cache_files[cache], strerror(errno));
	if (file >= 0)
		close(file);
	return told;
}

/* "ADDRESS PATH MOST" is answered by "\xBYTES" */
static bool ask_handle(const char *question, uint8_t *handle, size_t most, size_t *length)
{
	char answer[4 * MOUNT_HANDLE_3 + 8], bytes[MOUNT_HANDLE_3 + 1];
	int file = open(HANDLES, O_RDWR | O_CLOEXEC), found = -1;
	const char *line = answer;
	ssize_t got = -1;

	if (file < 0)
		return false;
	if (write(file, question, strlen(question)) > 0)
		got = read(file, answer, sizeof answer - 1);
	close(file);
	if (got <= 0)
		return false;
	answer[got] = '\0';
	found = words_next(&line, bytes, sizeof bytes);
	if (found <= 0 || (size_t)found > most)
		return false;
	memcpy(handle, bytes, (size_t)found);
	*length = (size_t)found;
	return true;
}

/* A link in the path could lead anywhere: each component must be a directory itself */
static enum mount_status look(const char *path)
{
	char part[MOUNT_PATH + 1];
	struct stat found;

	for (size_t length = 1; length <= strlen(path); length++) {
		if (path[length] && path[length] != '/')
			continue;
		memcpy(part, path, length);
		part[length] = '\0';
		if (lstat(part, &found))
			return errno == ENOENT ? MOUNT_NO_ENTRY : MOUNT_ACCESS;
		if (!S_ISDIR(found.st_mode))
			return MOUNT_NOT_A_FOLDER;
	}
	return MOUNT_OK;
}

enum mount_status kernel_handle(const struct export_rule *rule, uint32_t address, const char *path, size_t most,
				uint8_t *handle, size_t *length)
{
	char line[CACHE_LINE], client[16];
	struct words_out question = { line, sizeof line, 0, false };
	enum mount_status status = look(path);

	if (status)
		return status;
	make_room(CACHES);
	/* Otherwise the kernel would ask this process, which waits for the kernel */
	for (enum cache cache = 0; cache < CACHES; cache++)
		if (!cache_foretell(cache, rule, address, line, sizeof line) || !tell(cache, line))
			return MOUNT_SERVER_FAULT;
	address_text(address, client);
	words_put(&question, client);
	words_put(&question, path);
	words_put_number(&question, (long long)most);
	if (!words_end(&question) || !ask_handle(line, handle, most, length)) {
		log_line("%s: the kernel gives no file handle: %s", path, strerror(errno));
		return MOUNT_SERVER_FAULT;
	}
	return MOUNT_OK;
}
