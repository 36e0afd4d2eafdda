// SPDX-License-Identifier: Apache-2.0
/* What is in a file: much of it, holes, ends that move, and the same bytes seen through memory */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"

enum { BLOCK = 65536, BLOCKS = 64, PIECES = 70, PIECE = 3000, STEP = 11003, MAPPED = 300000 };

static int large_content(void)
{
	static unsigned char block[BLOCK], found[BLOCK];
	int file = open(at(0, "large"), O_CREAT | O_RDWR, 0644);

	MUST(file >= 0);
	for (unsigned i = 0; i < BLOCKS; i++) {
		fill(block, BLOCK, i);
		MUST(write(file, block, BLOCK) == BLOCK);
	}
	MUST(!fsync(file) && !close(file));
	file = open(at(1, "large"), O_RDONLY);
	for (unsigned i = 0; i < BLOCKS; i++) {
		fill(block, BLOCK, i);
		MUST(read(file, found, BLOCK) == BLOCK && !memcmp(block, found, BLOCK));
	}
	MUST(!close(file) && !unlink(at(0, "large")));
	return 0;
}

/* Pieces far from each other, the last ones first, then an end behind all of them */
static int holes(void)
{
	static unsigned char wanted[PIECES * STEP + 777], found[sizeof wanted + 1];
	size_t got = 0;
	ssize_t count;
	int file = open(at(0, "holes"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0);
	for (int i = PIECES - 1; i >= 0; i--) {
		fill(wanted + i * STEP, PIECE, (unsigned)i);
		MUST(pwrite(file, wanted + i * STEP, PIECE, (off_t)i * STEP) == PIECE);
	}
	MUST(!ftruncate(file, sizeof wanted) && size_of(at(1, "holes")) == sizeof wanted && !close(file));
	file = open(at(1, "holes"), O_RDONLY);
	while ((count = read(file, found + got, sizeof found - got)) > 0)
		got += (size_t)count;
	MUST(!count && got == sizeof wanted && !memcmp(wanted, found, got));
	MUST(!close(file) && !unlink(at(0, "holes")));
	return 0;
}

/* A hole takes no room, and has a size all the same */
static int a_large_hole(void)
{
	struct stat about;
	char byte = 'x';
	int file = open(at(0, "hole"), O_CREAT | O_RDWR | O_APPEND, 0644);

	MUST(file >= 0 && !ftruncate(file, 10000000) && write(file, "z", 1) == 1 && !fsync(file));
	MUST(!stat(at(1, "hole"), &about) && about.st_size == 10000001 && about.st_blocks * 512LL < 1000000);
	MUST(pread(file, &byte, 1, 5000000) == 1 && !byte && pread(file, &byte, 1, 10000000) == 1 && byte == 'z');
	MUST(!close(file) && !unlink(at(0, "hole")));
	return 0;
}

static int moved_ends(void)
{
	static unsigned char bytes[100000], found[100000];
	struct stat about;
	int file = open(at(0, "ends"), O_CREAT | O_EXCL | O_RDWR, 0644), other;

	fill(bytes, sizeof bytes, 3);
	MUST(file >= 0 && write(file, bytes, sizeof bytes) == sizeof bytes);
	MUST(!ftruncate(file, 50001) && !fstat(file, &about) && about.st_size == 50001);
	MUST(size_of(at(1, "ends")) == 50001);
	MUST(!ftruncate(file, 90000) && size_of(at(1, "ends")) == 90000); /* what was cut off is zero, not what it was */
	memset(bytes + 50001, 0, sizeof bytes - 50001);
	other = open(at(1, "ends"), O_RDWR);
	MUST(pread(other, found, sizeof found, 0) == 90000 && !memcmp(bytes, found, 90000));
	MUST(!truncate(at(1, "ends"), 7) && !fstat(file, &about) && about.st_size == 7);
	MUST(pread(file, found, sizeof found, 0) == 7 && pread(file, found, 1, 7) == 0);
	MUST(write(file, "end", 3) == 3); /* at its old place, behind the end */
	MUST(!fsync(file) && size_of(at(1, "ends")) == 100003);
	MUST(!close(file) && !close(other));
	file = open(at(0, "ends"), O_WRONLY | O_TRUNC);
	MUST(file >= 0 && size_of(at(1, "ends")) == 0 && !close(file) && !unlink(at(0, "ends")));
	return 0;
}

/* A file changed through memory by the one mount is read by the other; and the other way round */
static int mapped(void)
{
	static unsigned char bytes[MAPPED], found[MAPPED + 1];
	unsigned char *memory;
	int file = open(at(0, "mapped"), O_CREAT | O_EXCL | O_RDWR, 0644);

	MUST(file >= 0 && !ftruncate(file, MAPPED));
	memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	MUST(memory != MAP_FAILED && !memory[0] && !memory[MAPPED - 1]);
	fill(bytes, MAPPED, 5);
	memcpy(memory, bytes, MAPPED);
	memory[MAPPED] = 'x'; /* behind the end, in the last page: is nobody's */
	MUST(!msync(memory, MAPPED, MS_SYNC) && !munmap(memory, MAPPED) && !close(file));
	file = open(at(1, "mapped"), O_RDWR);
	MUST(read(file, found, sizeof found) == MAPPED && !memcmp(bytes, found, MAPPED));
	MUST(pwrite(file, "changed", 7, 12345) == 7 && !close(file));
	file = open(at(0, "mapped"), O_RDONLY);
	memory = mmap(NULL, MAPPED, PROT_READ, MAP_PRIVATE, file, 0);
	MUST(memory != MAP_FAILED && !memcmp(memory + 12345, "changed", 7) && !memcmp(memory, bytes, 12345));
	MUST(!munmap(memory, MAPPED) && !close(file) && !unlink(at(0, "mapped")));
	return 0;
}

/* Without the client's cache */
static int direct(void)
{
	static unsigned char bytes[BLOCK], found[BLOCK];
	int file = open(at(0, "direct"), O_CREAT | O_EXCL | O_RDWR | O_DIRECT, 0644);

	MUST(file >= 0);
	for (unsigned i = 0; i < 8; i++) {
		fill(bytes, BLOCK, i);
		MUST(pwrite(file, bytes, BLOCK, (off_t)(7 - i) * BLOCK) == BLOCK);
	}
	for (unsigned i = 0; i < 8; i++) {
		fill(bytes, BLOCK, i);
		MUST(pread(file, found, BLOCK, (off_t)(7 - i) * BLOCK) == BLOCK && !memcmp(bytes, found, BLOCK));
	}
	MUST(size_of(at(1, "direct")) == 8 * BLOCK && !close(file) && !unlink(at(0, "direct")));
	return 0;
}

const struct nfs_case content_cases[] = {
	{ "large_content", large_content },
	{ "holes", holes },
	{ "a_large_hole", a_large_hole },
	{ "moved_ends", moved_ends },
	{ "mapped", mapped },
	{ "direct", direct },
	{ NULL, NULL },
};
