// SPDX-License-Identifier: Apache-2.0
/*
 * durable: holds a file system to what it promises about synced data, through losses of power.
 *
 *	durable write FOLDER LOG SEED [OPERATIONS]	until an operation fails, as it does when the power is gone
 *	durable check FOLDER LOG			exit status 1, and a line for each, if something synced is lost
 *	POWER=FILE durable ...				FILE says "off" when the power is gone: nothing is safe from then on
 *
 * It keeps a few files. Each operation gives one of them another version: replaced (written beside it, synced, renamed
 * over it), written anew in place after it was removed, moved to another name, or removed; then the folder is synced. To one more
 * file, records are added, each synced, until there are so many that it begins anew. LOG lies elsewhere, where no power is lost: what is tried, and what is known to
 * be safe.
 *
 * A file may be as it was when last safe, or as any operation tried since would make it: never something else, never
 * neither of both. Records that were safe must be there. check leaves in LOG what it has found, for the next write.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 12, MOST_BYTES = 24000, MOST_TRIED = 16, RECORD_BYTES = 700, MOST_RECORDS = 150 };

static const char *const RECORDS = "records";

struct header {
	uint32_t magic;
	uint32_t version;
	uint32_t bytes;		/* behind the header */
	uint32_t unused;
};

enum { MAGIC = 0x64757261 };

/* Version 0: the file is not there. The first is what is safe, the others were tried since. */
struct known {
	uint32_t versions[MOST_TRIED];
	uint32_t count;
};

static struct known known[FILES];
static uint32_t safe_records, last_version;

/* The last operation, if it was a move: one of the names must have the version */
static struct { uint32_t from, to, version; } moving;
static uint64_t random_state;

static uint32_t next_random(uint32_t below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dull >> 32) % below;
}

static void die(const char *what)
{
	fprintf(stderr, "durable: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void pattern(uint8_t *to, uint32_t version, uint32_t bytes)
{
	uint64_t state = version * 0x9e3779b97f4a7c15ull + 1;

	for (uint32_t i = 0; i < bytes; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		to[i] = state;
	}
}

/*
 * LOG is text, lines of a word and two numbers: safe FILE VERSION, try FILE VERSION, move FROM TO (the version follows as a
 * try), records 0 COUNT, last 0 VERSION.
 */
static void note(FILE *log, const char *what, uint32_t file, uint32_t version)
{
	fprintf(log, "%s %u %u\n", what, file, version);
	fflush(log);
}

static void make_safe(uint32_t file, uint32_t version)
{
	known[file].versions[0] = version;
	known[file].count = 1;
}

static void take_up(const char *what, uint32_t file, uint32_t version)
{
	if (!strcmp(what, "records")) {
		safe_records = version;
		return;
	}
	if (!strcmp(what, "move")) {
		moving.from = file;
		moving.to = version;
		moving.version = known[file].versions[0];
		return;
	}
	if (version > last_version)
		last_version = version;
	if (!strcmp(what, "safe")) {
		make_safe(file, version);
		moving.version = 0;
	} else if (!strcmp(what, "try") && known[file].count < MOST_TRIED) {
		known[file].versions[known[file].count++] = version;
	}
}

static void read_log(const char *path)
{
	FILE *log = fopen(path, "r");
	char what[16];
	uint32_t file, version;

	for (file = 0; file < FILES; file++)
		make_safe(file, 0);
	if (!log)
		return;
	while (fscanf(log, "%15s %u %u", what, &file, &version) == 3)
		take_up(what, file, version);
	fclose(log);
}

static void name_of(char *to, uint32_t file)
{
	sprintf(to, "file%u", file);
}

static int write_file(const char *name, uint32_t version, int folder)
{
	static uint8_t content[sizeof(struct header) + MOST_BYTES];
	struct header header = { .magic = MAGIC, .version = version, .bytes = next_random(MOST_BYTES) };
	size_t bytes = sizeof(header) + header.bytes;
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	int bad = fd < 0;

	memcpy(content, &header, sizeof(header));
	pattern(content + sizeof(header), version, header.bytes);
	if (!bad)
		bad = write(fd, content, bytes) != (ssize_t)bytes || fsync(fd);
	if (fd >= 0)
		bad |= close(fd);
	return bad ? -1 : 0;
}

/*
 * What an interrupted rename left under the name beside it is not written to but removed: JFFS2 may leave both names, as links to one
 * file, and who writes to one of them then changes what the other had safely.
 */
static int replace(int folder, uint32_t file, uint32_t version)
{
	char name[32];

	name_of(name, file);
	if (unlinkat(folder, "new", 0) && errno != ENOENT)
		return -1;
	return write_file("new", version, folder) || renameat(folder, "new", folder, name);
}

static int remove_file(int folder, uint32_t file)
{
	char name[32];

	name_of(name, file);
	return unlinkat(folder, name, 0) && errno != ENOENT ? -1 : 0;
}

/*
 * The machine lives on when only the chip has lost its power, and a file system may take its error for success (fsync of
 * JFFS2 always returns 0). What such a machine learns after that moment, a real one would not: POWER names a file that
 * says "off".
 */
static int power_is_gone(void)
{
	const char *path = getenv("POWER");
	FILE *file = path ? fopen(path, "r") : NULL;
	int gone = file && fgetc(file) == 'o' && fgetc(file) == 'f';

	if (file)
		fclose(file);
	return gone;
}

static int sync_failed(int fd)
{
	return fsync(fd) || power_is_gone();
}

/* Two files change: the one is gone, the other is what it was */
static int move(FILE *log, int folder, uint32_t from, uint32_t to)
{
	char old_name[32], new_name[32];
	uint32_t version = known[from].versions[0];

	name_of(old_name, from);
	name_of(new_name, to);
	note(log, "move", from, to);
	note(log, "try", from, 0);
	note(log, "try", to, version);
	if (renameat(folder, old_name, folder, new_name) || sync_failed(folder))
		return -1;
	make_safe(from, 0);
	make_safe(to, version);
	note(log, "safe", from, 0);
	note(log, "safe", to, version);
	return 0;
}

static int change(FILE *log, int folder, uint32_t file, int removing)
{
	uint32_t version = removing ? 0 : ++last_version;

	note(log, "try", file, version);
	if (removing ? remove_file(folder, file) : replace(folder, file, version))
		return -1;
	if (sync_failed(folder))
		return -1;
	make_safe(file, version);
	note(log, "safe", file, version);
	return 0;
}

static int append(FILE *log, int folder)
{
	uint8_t record[RECORD_BYTES];
	int fd = openat(folder, RECORDS, O_WRONLY | O_CREAT, 0644);
	int bad = fd < 0;

	pattern(record, safe_records + 1, sizeof(record));
	if (!bad)
		bad = pwrite(fd, record, sizeof(record), (off_t)safe_records * RECORD_BYTES) != sizeof(record) ||
		      fsync(fd) || sync_failed(folder);
	if (fd >= 0)
		bad |= close(fd);
	if (bad)
		return -1;
	note(log, "records", 0, ++safe_records);
	return 0;
}

/* From here on no record is safe, whether the file is still there or not */
static int begin_records_anew(FILE *log, int folder)
{
	safe_records = 0;
	note(log, "records", 0, 0);
	return unlinkat(folder, RECORDS, 0) && errno != ENOENT ? -1 : 0;
}

static int add_record(FILE *log, int folder)
{
	if (safe_records == MOST_RECORDS && begin_records_anew(log, folder))
		return -1;
	return append(log, folder);
}

static int operate(FILE *log, int folder)
{
	uint32_t file = next_random(FILES), other = next_random(FILES);

	switch (next_random(8)) {
	case 0:
		return change(log, folder, file, 1);
	case 1:
		return file != other && known[file].versions[0] ? move(log, folder, file, other) : 0;
	case 2:
	case 3:
		return add_record(log, folder);
	default:
		return change(log, folder, file, 0);
	}
}

static int write_until_failure(const char *path, const char *log_path, uint64_t seed, uint64_t operations)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY);
	FILE *log = fopen(log_path, "a");
	uint64_t done = 0;

	if (folder < 0 || !log)
		die(folder < 0 ? path : log_path);
	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	while (done < operations && !operate(log, folder))
		done++;
	printf("%llu operations, then: %s\n", (unsigned long long)done,
	       done == operations ? "enough" : strerror(errno));
	return 0;
}

/* The version of a file, 0 if there is none, UINT32_MAX if it is none that was ever written */
static uint32_t version_of(int folder, uint32_t file)
{
	static uint8_t content[sizeof(struct header) + MOST_BYTES + 1], wanted[MOST_BYTES];
	struct header header;
	char name[32];
	ssize_t bytes;
	int fd;

	name_of(name, file);
	fd = openat(folder, name, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT ? 0 : UINT32_MAX;
	bytes = read(fd, content, sizeof(content));
	close(fd);
	if (bytes < (ssize_t)sizeof(header))
		return UINT32_MAX;
	memcpy(&header, content, sizeof(header));
	if (header.magic != MAGIC || header.bytes > MOST_BYTES || bytes != (ssize_t)(sizeof(header) + header.bytes))
		return UINT32_MAX;
	pattern(wanted, header.version, header.bytes);
	return memcmp(wanted, content + sizeof(header), header.bytes) ? UINT32_MAX : header.version;
}

static int acceptable(uint32_t file, uint32_t version)
{
	for (uint32_t i = 0; i < known[file].count; i++)
		if (known[file].versions[i] == version)
			return 1;
	return 0;
}

static int check_file(int folder, uint32_t file, uint32_t version)
{
	int lost = !acceptable(file, version);

	if (lost && version == UINT32_MAX)
		printf("lost: file%u is damaged; safe was version %u", file, known[file].versions[0]);
	else if (lost)
		printf("lost: file%u has version %u; safe was %u", file, version, known[file].versions[0]);
	for (uint32_t i = 1; lost && i < known[file].count; i++)
		printf("%s%u", i == 1 ? ", tried since " : ", ", known[file].versions[i]);
	if (lost)
		printf("\n");
	make_safe(file, version == UINT32_MAX ? 0 : version);
	if (version == UINT32_MAX)
		remove_file(folder, file);
	return lost;
}

static int check_records(int folder)
{
	uint8_t record[RECORD_BYTES], wanted[RECORD_BYTES];
	int fd = openat(folder, RECORDS, O_RDONLY);
	uint32_t i;

	for (i = 0; i < safe_records; i++) {
		pattern(wanted, i + 1, sizeof(wanted));
		if (pread(fd, record, sizeof(record), (off_t)i * RECORD_BYTES) != sizeof(record) ||
		    memcmp(record, wanted, sizeof(record)))
			break;
	}
	if (fd >= 0)
		close(fd);
	if (i == safe_records)
		return 0;
	printf("lost: record %u of %u that were safe\n", i + 1, safe_records);
	safe_records = i;
	return 1;
}

/* Before a move there was the one name, after it there is the other */
static int check_move(const uint32_t *found)
{
	if (!moving.version || found[moving.from] == moving.version || found[moving.to] == moving.version)
		return 0;
	printf("lost: file%u, version %u, was moved to file%u, and is at neither name\n", moving.from, moving.version,
	       moving.to);
	return 1;
}

static int check(const char *path, const char *log_path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY);
	uint32_t found[FILES];
	int lost = 0;
	FILE *log;

	if (folder < 0)
		die(path);
	for (uint32_t file = 0; file < FILES; file++) {
		found[file] = version_of(folder, file);
		lost += check_file(folder, file, found[file]);
	}
	lost += check_move(found);
	lost += check_records(folder);
	log = fopen(log_path, "w");
	if (!log)
		die(log_path);
	for (uint32_t file = 0; file < FILES; file++)
		note(log, "safe", file, known[file].versions[0]);
	note(log, "records", 0, safe_records);
	note(log, "last", 0, last_version);
	fclose(log);
	return lost ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4)
		read_log(argv[3]);
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "write"))
		return write_until_failure(argv[2], argv[3], strtoull(argv[4], NULL, 10),
					   argc == 6 ? strtoull(argv[5], NULL, 10) : UINT64_MAX);
	if (argc == 4 && !strcmp(argv[1], "check"))
		return check(argv[2], argv[3]);
	fprintf(stderr, "usage: durable write FOLDER LOG SEED [OPERATIONS] | durable check FOLDER LOG\n");
	return 2;
}
