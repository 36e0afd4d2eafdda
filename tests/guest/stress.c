// SPDX-License-Identifier: Apache-2.0
/*
 * stress: random operations on a file system, each held to what the program knows must be there.
 *
 *	stress file FILE LOG SEED SECONDS	reads, writes, holes, truncations, shared mappings of one file, also behind its end
 *	stress tree FOLDER LOG SEED SECONDS	names: files, links, symbolic links, folders come, move, and go
 *	stress check-file FILE LOG
 *	stress check-tree FOLDER LOG SEED	the same as at the end, after a remount
 *
 * Exit status 1, and a line that says where, at the first thing that is not as it must be. SECONDS are of the guest. Any number
 * may run at once: those with another SEED may share a FOLDER, for each has names of its own. A full file system is no failure:
 * what did not fit has not happened. LOG lies elsewhere.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST = 600000, FOLDERS = 5, SLOTS = 20, NODES = 60, TREE_FILE_MOST = 40000, CHECK_EVERY = 150 };

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dull >> 32) % limit;
}

static void die(const char *format, ...)
{
	va_list arguments;
	int why = errno;

	va_start(arguments, format);
	fputs("stress: ", stderr);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, " (last error: %s)\n", strerror(why));
	exit(1);
}

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec + at.tv_nsec * 1e-9;
}

static void save(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, bytes, 1, file) != 1 || fclose(file))
		die("%s: cannot be written", path);
}

static void load(const char *path, void *data, size_t bytes)
{
	FILE *file = fopen(path, "rb");

	if (!file || fread(data, bytes, 1, file) != 1)
		die("%s: cannot be read", path);
	fclose(file);
}

/* Clean pages go, so that the flash is read again */
static void forget_pages(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	if (fd >= 0 && write(fd, "3", 1) != 1)
		errno = 0;
	close(fd);
}

/* One file, and a copy of it in memory */
static struct {
	uint32_t size;
	uint8_t data[FILE_MOST];
} copy;

static uint8_t scratch[FILE_MOST];

static void fill(uint8_t *data, uint32_t bytes)
{
	uint32_t tag = below(0xffffffff);

	for (uint32_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(tag >> i % 4 * 8) ^ (uint8_t)(i >> 2);
}

static void compare(const char *what, uint32_t at, const uint8_t *found, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (found[i] != copy.data[at + i])
			die("%s of %u bytes at %u: byte %u is %02x, not %02x", what, bytes, at, at + i, found[i],
			    copy.data[at + i]);
}

static void set_size(uint32_t size)
{
	if (size > copy.size)
		memset(copy.data + copy.size, 0, size - copy.size);
	copy.size = size;
}

/* What was written of it, when the file system is full */
static void write_some(int fd)
{
	uint32_t at = below(4) ? below(copy.size + 1) : below(FILE_MOST - 1), bytes = 1 + below(below(3) ? 5000 : 70000);
	uint32_t done = 0;

	if (bytes > FILE_MOST - at)
		bytes = FILE_MOST - at;
	fill(scratch, bytes);
	while (done < bytes) {
		ssize_t got = pwrite(fd, scratch + done, bytes - done, at + done);

		if (got < 0 && errno == ENOSPC)
			break;
		if (got <= 0)
			die("write of %u bytes at %u", bytes, at);
		done += (uint32_t)got;
	}
	if (done && at + done > copy.size)
		set_size(at + done);
	memcpy(copy.data + at, scratch, done);
}

static void read_some(int fd)
{
	uint32_t at = below(copy.size + 1), bytes = 1 + below(70000);
	uint32_t there = bytes < copy.size - at ? bytes : copy.size - at;
	ssize_t got = pread(fd, scratch, bytes, at);

	if (got != (ssize_t)there)
		die("read of %u bytes at %u gives %zd, the file has %u", bytes, at, got, copy.size);
	compare("read", at, scratch, there);
}

/* By either name of the file; both times it counts as changed */
static void resize(int fd, const char *path)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	uint32_t size = below(3) ? below(copy.size + 1) : below(FILE_MOST);
	struct stat status;

	if (futimens(fd, long_ago))
		die("futimens");
	if (below(2) ? ftruncate(fd, size) : truncate(path, size)) {
		if (errno != ENOSPC)
			die("truncation to %u", size);
		return;
	}
	if (fstat(fd, &status) || (size != copy.size && status.st_mtime == long_ago[1].tv_sec))
		die("truncation from %u to %u leaves the time as it was", copy.size, size);
	if (status.st_blocks * 512ll < size)
		die("%u bytes are in %lld blocks of 512", size, (long long)status.st_blocks);
	set_size(size);
}

/* What a mapping leaves behind the end is no part of the file, also when it grows */
static void map_beyond_end(int fd)
{
	uint32_t page = 4096, end = copy.size % page;
	uint8_t *mapped;

	if (!end || pwrite(fd, copy.data + copy.size - 1, 1, copy.size - 1) != 1)
		return;
	mapped = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, copy.size - end);
	if (mapped == MAP_FAILED)
		die("mapping of the last page, at %u", copy.size - end);
	memset(mapped + end, 0xee, page - end);
	munmap(mapped, page);
}

/* What is mapped is written first: a hole in a full file system would end the program by a signal */
static void map_some(int fd)
{
	uint32_t page = 4096, first, bytes, at;
	uint8_t *mapped;

	if (copy.size < 2)
		return;
	at = below(copy.size);
	bytes = 1 + below(copy.size - at < 20000 ? copy.size - at : 20000);
	first = at / page * page;
	mapped = mmap(NULL, at + bytes - first, PROT_READ | PROT_WRITE, MAP_SHARED, fd, first);
	if (mapped == MAP_FAILED)
		die("mapping of %u bytes at %u", bytes, at);
	compare("mapping", at, mapped + at - first, bytes);
	if (pwrite(fd, mapped + at - first, bytes, at) == (ssize_t)bytes) {
		fill(scratch, bytes);
		memcpy(mapped + at - first, scratch, bytes);
		memcpy(copy.data + at, scratch, bytes);
		if (!below(3) && msync(mapped, at + bytes - first, MS_SYNC))
			die("msync of %u bytes at %u", bytes, at);
	}
	munmap(mapped, at + bytes - first);
}

static void check_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		die("%s: cannot be opened", path);
	if (status.st_size != copy.size)
		die("%s: %lld bytes instead of %u", path, (long long)status.st_size, copy.size);
	if (read(fd, scratch, copy.size) != (ssize_t)copy.size)
		die("%s: cannot be read", path);
	compare("file", 0, scratch, copy.size);
	close(fd);
}

static void stress_file(const char *path, const char *log, double seconds)
{
	double end = now() + seconds;
	uint64_t operations = 0;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		die("%s: cannot be created", path);
	for (; now() < end; operations++) {
		switch (below(16)) {
		case 0 ... 5:
			write_some(fd);
			break;
		case 6 ... 9:
			read_some(fd);
			break;
		case 10 ... 11:
			resize(fd, path);
			break;
		case 12:
			map_some(fd);
			break;
		case 13:
			below(2) ? map_some(fd) : map_beyond_end(fd);
			break;
		case 14:
			if (fsync(fd))
				die("fsync");
			break;
		default:
			if (below(4))
				break;
			close(fd);
			if (below(2))
				sync();
			forget_pages();
			check_file(path);
			fd = open(path, O_RDWR);
			if (fd < 0)
				die("%s: cannot be opened again", path);
		}
	}
	if (fsync(fd) || close(fd))
		die("%s: cannot be closed", path);
	check_file(path);
	save(log, &copy, sizeof(copy));
	printf("file: %llu operations, %u bytes at the end\n", (unsigned long long)operations, copy.size);
}

/* Names in a few folders */
struct node {
	uint32_t links;		/* 0: free */
	uint32_t type;		/* S_IFREG, S_IFLNK or S_IFDIR; a folder of this kind stays empty */
	uint32_t mode, size, tag, mtime;
};

static struct {
	uint32_t owner;
	int32_t at[FOLDERS][SLOTS];	/* a node, or -1 */
	struct node nodes[NODES];
} tree;

static const char *top;

static const char *path_of(int folder, int slot)
{
	static char paths[2][4096];
	static int turn;

	turn = !turn;
	snprintf(paths[turn], sizeof(paths[turn]), "%s/d%d/%u-%d", top, folder, tree.owner, slot);
	return paths[turn];
}

static bool place(bool taken, int *folder, int *slot)
{
	for (int tries = 0; tries < 100; tries++) {
		*folder = (int)below(FOLDERS);
		*slot = (int)below(SLOTS);
		if ((tree.at[*folder][*slot] >= 0) == taken)
			return true;
	}
	return false;
}

static int free_node(void)
{
	for (int i = 0; i < NODES; i++)
		if (!tree.nodes[i].links)
			return i;
	return -1;
}

static uint8_t byte_of(const struct node *node, uint32_t i)
{
	return (uint8_t)(node->tag >> i % 4 * 8) ^ (uint8_t)(i >> 2);
}

/* False, and the file is empty: there was no room */
static bool write_node(const char *path, struct node *node)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool fits;

	if (fd < 0)
		die("%s: cannot be opened", path);
	node->tag = below(0xffffffff);
	node->size = below(3) ? below(3000) : below(TREE_FILE_MOST);
	for (uint32_t i = 0; i < node->size; i++)
		scratch[i] = byte_of(node, i);
	fits = write(fd, scratch, node->size) == (ssize_t)node->size;
	if (!fits) {
		if (ftruncate(fd, 0))
			die("%s: cannot be emptied", path);
		node->size = 0;
	}
	if (!below(4) && fsync(fd))
		die("%s: fsync", path);
	close(fd);
	return fits;
}

static void link_target(const struct node *node, char *target)
{
	snprintf(target, 64, "somewhere/%08x", node->tag);
}

static void create(void)
{
	static const uint32_t types[] = { S_IFREG, S_IFREG, S_IFREG, S_IFLNK, S_IFDIR };
	int folder, slot, number = free_node(), result;
	struct node *node;
	const char *path;
	char target[64];

	if (number < 0 || !place(false, &folder, &slot))
		return;
	node = &tree.nodes[number];
	*node = (struct node) { .type = types[below(5)], .mode = 0400 | below(0400), .tag = below(0xffffffff) };
	path = path_of(folder, slot);
	link_target(node, target);
	result = node->type == S_IFDIR ? mkdir(path, node->mode) : node->type == S_IFLNK ? symlink(target, path) :
		 mknod(path, S_IFREG | node->mode, 0);
	if (result) {
		if (errno != ENOSPC)
			die("%s: cannot be created", path);
		return;
	}
	node->links = 1;
	tree.at[folder][slot] = number;
	if (node->type == S_IFREG)
		write_node(path, node);
}

/* A name has gone */
static void drop(int number)
{
	if (number >= 0)
		tree.nodes[number].links--;
}

static void remove_one(void)
{
	int folder, slot, number;
	const char *path;

	if (!place(true, &folder, &slot))
		return;
	number = tree.at[folder][slot];
	path = path_of(folder, slot);
	if (tree.nodes[number].type == S_IFDIR ? rmdir(path) : unlink(path))
		die("%s: cannot be removed", path);
	drop(number);
	tree.at[folder][slot] = -1;
}

static void move_one(void)
{
	int folder, slot, to_folder = (int)below(FOLDERS), to_slot = (int)below(SLOTS), number, old;

	if (!place(true, &folder, &slot))
		return;
	number = tree.at[folder][slot];
	old = tree.at[to_folder][to_slot];
	if (old == number || (old >= 0 && (tree.nodes[old].type == S_IFDIR) != (tree.nodes[number].type == S_IFDIR)))
		return;
	if (rename(path_of(folder, slot), path_of(to_folder, to_slot))) {
		if (errno != ENOSPC)
			die("%s: cannot be moved", path_of(folder, slot));
		return;
	}
	drop(old);
	tree.at[folder][slot] = -1;
	tree.at[to_folder][to_slot] = number;
}

static void link_one(void)
{
	int folder, slot, to_folder, to_slot, number;

	if (!place(true, &folder, &slot) || !place(false, &to_folder, &to_slot))
		return;
	number = tree.at[folder][slot];
	if (tree.nodes[number].type != S_IFREG)
		return;
	if (link(path_of(folder, slot), path_of(to_folder, to_slot))) {
		if (errno != ENOSPC)
			die("%s: cannot be linked", path_of(folder, slot));
		return;
	}
	tree.nodes[number].links++;
	tree.at[to_folder][to_slot] = number;
}

static void change(void)
{
	int folder, slot;
	struct node *node;
	const char *path;

	if (!place(true, &folder, &slot))
		return;
	node = &tree.nodes[tree.at[folder][slot]];
	path = path_of(folder, slot);
	if (node->type == S_IFREG && below(3)) {
		node->mtime = 0;
		write_node(path, node);
	} else if (node->type == S_IFREG && below(2)) {
		if (truncate(path, node->size / 2))
			die("%s: cannot be truncated", path);
		node->size /= 2;
		node->mtime = 0;
	} else if (node->type != S_IFLNK) {
		struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1000 + below(1000000000) } };

		node->mode = 0400 | below(0400);
		node->mtime = (uint32_t)times[1].tv_sec;
		if (chmod(path, node->mode) || utimensat(AT_FDCWD, path, times, 0))
			die("%s: mode and time cannot be set", path);
	}
}

static void check_content(const char *path, const struct node *node)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, scratch, TREE_FILE_MOST + 1) != (ssize_t)node->size)
		die("%s: does not have %u bytes", path, node->size);
	for (uint32_t i = 0; i < node->size; i++)
		if (scratch[i] != byte_of(node, i))
			die("%s: byte %u of %u is %02x, not %02x", path, i, node->size, scratch[i], byte_of(node, i));
	close(fd);
}

static void check_name(const char *path, const struct node *node)
{
	char target[64], found[64] = "";
	struct stat status;

	if (lstat(path, &status))
		die("%s: is not there", path);
	if ((status.st_mode & S_IFMT) != node->type)
		die("%s: type %o, not %o", path, status.st_mode & S_IFMT, node->type);
	if (node->type == S_IFLNK) {
		link_target(node, target);
		if (readlink(path, found, sizeof(found) - 1) < 0 || strcmp(target, found))
			die("%s: leads to %s, not %s", path, found, target);
		return;
	}
	if ((status.st_mode & 07777) != node->mode)
		die("%s: mode %o, not %o", path, status.st_mode & 07777, node->mode);
	if (node->mtime && status.st_mtime != node->mtime)
		die("%s: time %lld, not %u", path, (long long)status.st_mtime, node->mtime);
	if (node->type == S_IFDIR)
		return;
	if (status.st_nlink != node->links)
		die("%s: %u links, not %u", path, (unsigned int)status.st_nlink, node->links);
	if (status.st_size != node->size)
		die("%s: %lld bytes, not %u", path, (long long)status.st_size, node->size);
	check_content(path, node);
}

/* Each of our names once, and no other of ours */
static void check_listing(int folder)
{
	char path[4096];
	int count = 0, expected = 0, slot;
	unsigned int owner;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/d%d", top, folder);
	dir = opendir(path);
	if (!dir)
		die("%s: cannot be read", path);
	for (int i = 0; i < SLOTS; i++)
		expected += tree.at[folder][i] >= 0;
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%u-%d", &owner, &slot) != 2 || owner != tree.owner)
			continue;
		if (slot < 0 || slot >= SLOTS || tree.at[folder][slot] < 0)
			die("%s/%s: must not be there", path, entry->d_name);
		count++;
	}
	closedir(dir);
	if (count != expected)
		die("%s: %d names instead of %d", path, count, expected);
}

static void check_tree(void)
{
	for (int folder = 0; folder < FOLDERS; folder++) {
		check_listing(folder);
		for (int slot = 0; slot < SLOTS; slot++)
			if (tree.at[folder][slot] >= 0)
				check_name(path_of(folder, slot), &tree.nodes[tree.at[folder][slot]]);
	}
}

static void begin_tree(void)
{
	char path[4096];

	for (int folder = 0; folder < FOLDERS; folder++) {
		snprintf(path, sizeof(path), "%s/d%d", top, folder);
		if (mkdir(path, 0755) && errno != EEXIST)
			die("%s: cannot be made", path);
	}
	memset(tree.at, 0xff, sizeof(tree.at));
}

static void stress_tree(const char *log, double seconds)
{
	static void (*const operations[])(void) = {
		create, create, create, remove_one, remove_one, move_one, move_one, link_one, change, change,
	};
	double end = now() + seconds;
	uint64_t count = 0;

	umask(0);
	begin_tree();
	for (; now() < end; count++) {
		operations[below(10)]();
		if (below(CHECK_EVERY))
			continue;
		if (below(2))
			sync();
		forget_pages();
		check_tree();
	}
	check_tree();
	save(log, &tree, sizeof(tree));
	printf("tree: %llu operations\n", (unsigned long long)count);
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";

	if (argc > 4) {
		tree.owner = (uint32_t)strtoul(argv[4], NULL, 0);
		random_state = 0x9e3779b97f4a7c15ull * (tree.owner + 1);
	}
	top = argc > 3 ? argv[2] : "";
	if (!strcmp(what, "file") && argc == 6) {
		stress_file(argv[2], argv[3], strtod(argv[5], NULL));
	} else if (!strcmp(what, "tree") && argc == 6) {
		stress_tree(argv[3], strtod(argv[5], NULL));
	} else if (!strcmp(what, "check-file") && argc == 4) {
		load(argv[3], &copy, sizeof(copy));
		check_file(argv[2]);
	} else if (!strcmp(what, "check-tree") && argc == 5) {
		load(argv[3], &tree, sizeof(tree));
		check_tree();
	} else {
		fputs("usage: stress file|tree|check-file|check-tree: see the head of its source\n", stderr);
		return 2;
	}
	return 0;
}
