// SPDX-License-Identifier: Apache-2.0
/*
 * outbox: copies standard input into a memory region shared with the host.
 *
 *	outbox /sys/bus/pci/devices/.../resource2 <results.tar
 *
 * Layout: 8 bytes "FBOUTBX1", the length as a 64-bit little-endian number, then the bytes. The magic is written last,
 * so the host never takes a partial box for a complete one. A memory copy needs no device model, which would affect
 * virtual time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 16 };

static int fail(const char *what)
{
	fprintf(stderr, "outbox: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct stat st;
	int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;

	if (fd < 0 || fstat(fd, &st))
		return fail(argc == 2 ? argv[1] : "usage: outbox RESOURCE");

	uint8_t *box = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (box == MAP_FAILED)
		return fail("mmap");

	uint64_t capacity = st.st_size - HEADER_BYTES, length = 0;
	ssize_t n;

	/* The mapping is device memory: whole aligned words only, hence a bounce buffer. */
	for (;;) {
		uint64_t words[512] = { 0 };
		size_t filled = 0;

		while (filled < sizeof(words) &&
		       (n = read(0, (char *)words + filled, sizeof(words) - filled)) > 0)
			filled += n;
		if (!filled)
			break;
		if (length + sizeof(words) > capacity) {
			errno = ENOSPC;
			return fail("results larger than the outbox");
		}
		volatile uint64_t *to = (volatile uint64_t *)(box + HEADER_BYTES + length);

		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			to[i] = words[i];
		length += filled;
		if (filled < sizeof(words))
			break;
	}
	((volatile uint64_t *)box)[1] = length;
	__sync_synchronize();
	uint64_t magic;

	memcpy(&magic, "FBOUTBX1", 8);
	((volatile uint64_t *)box)[0] = magic;
	return 0;
}
