// SPDX-License-Identifier: Apache-2.0
/*
 * receive: writes the emulator's data for this guest to standard output (HINT #115; emulator/lab-load.h). The kernel
 * needs no support for it.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

static char buffer[BUFFER_BYTES];

static int64_t next_bytes(void)
{
	register int64_t x0 __asm__("x0") = (int64_t)buffer;
	register int64_t x1 __asm__("x1") = sizeof(buffer);

	__asm__ volatile("hint #115" : "+r"(x0) : "r"(x1) : "memory");
	return x0;
}

static int write_all(const char *from, size_t length)
{
	while (length) {
		ssize_t written = write(STDOUT_FILENO, from, length);

		if (written < 0)
			return -1;
		from += written;
		length -= written;
	}
	return 0;
}

int main(void)
{
	int64_t length;

	memset(buffer, 0xff, sizeof(buffer)); /* the emulator writes to mapped memory that belongs to this program */
	while ((length = next_bytes()) > 0 && length <= BUFFER_BYTES) {
		if (write_all(buffer, length)) {
			perror("receive");
			return 1;
		}
	}
	if (length) {
		fprintf(stderr, "receive: the emulator has nothing for this guest\n");
		return 1;
	}
	return 0;
}
