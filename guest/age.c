// SPDX-License-Identifier: Apache-2.0
/*
 * age: uses a new file system until it is aged.
 *
 *	age DIRECTORY FILL_PERCENT PASSES SEED
 *
 * Makes files in DIRECTORY/aged until they hold FILL_PERCENT of the free capacity. Then deletes files, makes new ones,
 * and overwrites parts of others in place, until PASSES times that capacity has been written once more. The free space
 * is then fragmented, and the medium has taken PASSES times its exposed capacity.
 *
 * Creating and deleting files in random order up to a given utilization is the method of K. Smith and M. Seltzer, "File
 * System Aging" (SIGMETRICS 1997), and of S. Kadekodi et al., "Geriatrix" (USENIX ATC 2018). The overwrites in place
 * are ours: databases and logs do that. File sizes are uniform on a logarithmic scale, because few files of real
 * systems hold most of the bytes: N. Agrawal et al., "A Five-Year Study of File-System Metadata" (FAST 2007). All
 * random numbers come from SEED by splitmix64 (G. Steele et al., OOPSLA 2014), in integers. No two pages are equal, so
 * no file system compresses them.
 *
 * Prints the capacity, the number of files, their blocks, the bytes written and, if the file system reports them, the
 * files' extents.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	SMALLEST = PAGE,
	LARGEST = 4 << 20,
	FILES_OF_CAPACITY = 256, /* the capacity's ratio to the largest file: 4 MiB of 1 GiB */
	SYNCS_OF_CAPACITY = 64,	/* syncs for each capacity written, whatever the memory */
	DIRECTORIES = 16,	/* a FAT16 root has room for 512 names, and a long directory is slow to search */
	NOISE = 64 << 10,
};

struct file {
	uint64_t number;	/* its name; also selects its directory */
	uint64_t bytes;
};

static const char *directory;
static uint64_t state;
static uint64_t block, capacity, largest, target;
static uint64_t used, written, unsynced, made;
static struct file *files;
static size_t count, max_files;
static uint64_t noise[NOISE / sizeof(uint64_t)];

static _Noreturn void die(const char *doing, const char *path)
{
	fprintf(stderr, "age: %s %s: %s, after %" PRIu64 " bytes were written and with %" PRIu64 " of %" PRIu64
		" in files\n", doing, path, strerror(errno), written, used, capacity);
	exit(1);
}

static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/*
 * A length from SMALLEST to `bound`: each power of two is equally likely, and lengths up to the next one are uniform.
 */
static uint64_t draw_length(uint64_t bound)
{
	unsigned int octaves = 0;
	uint64_t from;

	while ((uint64_t)SMALLEST << (octaves + 1) <= bound)
		octaves++;
	if (!octaves)
		return bound;
	from = (uint64_t)SMALLEST << draw() % octaves;
	return from + draw() % from;
}

static const char *path_of(const struct file *file)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/aged/%02u/%" PRIu64, directory, (unsigned int)(file->number % DIRECTORIES),
		 file->number);
	return path;
}

/* The space of a file on the medium, without its metadata. */
static uint64_t taken(uint64_t bytes)
{
	return (bytes + block - 1) / block * block;
}

static void sync_all(void)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || syncfs(fd) || close(fd))
		die("syncing", directory);
	unsynced = 0;
}

static void put(const struct file *file, int flags, uint64_t offset, uint64_t bytes)
{
	const char *path = path_of(file);
	int fd = open(path, O_WRONLY | flags, 0644);

	if (fd < 0)
		die("opening", path);
	for (uint64_t done = 0; done < bytes;) {
		uint64_t part = bytes - done < NOISE ? bytes - done : NOISE;
		ssize_t now;

		for (size_t page = 0; page < NOISE; page += PAGE)
			noise[page / sizeof(*noise)] = draw();
		now = pwrite(fd, noise, part, (off_t)(offset + done));
		if (now <= 0)
			die("writing", path);
		done += (uint64_t)now;
	}
	if (close(fd))
		die("closing", path);
	written += bytes;
	unsynced += bytes;
	if (unsynced >= capacity / SYNCS_OF_CAPACITY)
		sync_all();
}

static void make(uint64_t bytes)
{
	if (count == max_files) {
		max_files = max_files ? 2 * max_files : 1024;
		files = realloc(files, max_files * sizeof(*files));
		if (!files)
			die("keeping a list of", "files");
	}
	files[count] = (struct file){made++, bytes};
	put(&files[count++], O_CREAT | O_EXCL, 0, bytes);
	used += taken(bytes);
}

static void delete_one(void)
{
	struct file *file = &files[draw() % count];

	if (unlink(path_of(file)))
		die("deleting", path_of(file));
	used -= taken(file->bytes);
	*file = files[--count];
}

static void overwrite_part(void)
{
	const struct file *file = &files[draw() % count];
	uint64_t bytes = draw_length(file->bytes), places = (file->bytes - bytes) / PAGE + 1;

	put(file, 0, draw() % places * PAGE, bytes);
}

static void use(uint64_t until)
{
	while (written < until) {
		if (draw() & 1) {
			overwrite_part();
		} else {
			uint64_t bytes = draw_length(largest);

			while (used + taken(bytes) > target)
				delete_one();
			make(bytes);
		}
	}
}

static void fill(void)
{
	uint64_t bytes;

	while (bytes = draw_length(largest), used + taken(bytes) <= target)
		make(bytes);
}

static void print_extents(void)
{
	uint64_t extents = 0;

	for (size_t i = 0; i < count; i++) {
		struct fiemap map = {.fm_length = FIEMAP_MAX_OFFSET};
		int fd = open(path_of(&files[i]), O_RDONLY);

		if (fd < 0)
			die("opening", path_of(&files[i]));
		if (ioctl(fd, FS_IOC_FIEMAP, &map)) {
			close(fd);
			return;
		}
		extents += map.fm_mapped_extents;
		close(fd);
	}
	printf("extents %" PRIu64 "\n", extents);
}

static void make_directories(void)
{
	char path[256];

	for (int i = -1; i < DIRECTORIES; i++) {
		if (i < 0)
			snprintf(path, sizeof(path), "%s/aged", directory);
		else
			snprintf(path, sizeof(path), "%s/aged/%02d", directory, i);
		if (mkdir(path, 0755))
			die("making", path);
	}
}

int main(int argc, char **argv)
{
	uint64_t percent, passes;
	struct statvfs space;

	if (argc != 5) {
		fprintf(stderr, "usage: age DIRECTORY FILL_PERCENT PASSES SEED\n");
		return 2;
	}
	directory = argv[1];
	percent = strtoull(argv[2], NULL, 10);
	passes = strtoull(argv[3], NULL, 10);
	state = strtoull(argv[4], NULL, 10);
	for (size_t i = 0; i < NOISE / sizeof(*noise); i++)
		noise[i] = draw();
	make_directories();
	if (statvfs(directory, &space))
		die("looking at", directory);
	block = space.f_bsize;
	capacity = (uint64_t)space.f_bavail * space.f_frsize;
	target = capacity / 100 * percent;
	largest = capacity / FILES_OF_CAPACITY < LARGEST ? capacity / FILES_OF_CAPACITY : LARGEST;
	if (largest < SMALLEST) {
		fprintf(stderr, "age: %" PRIu64 " bytes are too few for files\n", capacity);
		return 1;
	}
	fill();
	use(written + passes * capacity);
	sync_all();
	printf("capacity_bytes %" PRIu64 "\nfiles %zu\nfilled_bytes %" PRIu64 "\nwritten_bytes %" PRIu64 "\n", capacity,
	       count, used, written);
	print_extents();
	return 0;
}
