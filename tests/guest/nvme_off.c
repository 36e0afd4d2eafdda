/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvme_off REGISTERS: turns an NVMe controller (its BAR 0) off and on while sixteen processes write to /dev/medium. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WRITERS = 16, TIMES = 50, CC = 0x14 / 4, BYTES = 1 << 16, PAGE = 4096 };

static void write_on(int writer)
{
	int medium = open("/dev/medium", O_RDWR | O_DIRECT);
	void *content = aligned_alloc(PAGE, BYTES);

	memset(content, writer, BYTES);
	for (int n = 0; pwrite(medium, content, BYTES, (off_t)BYTES * (512 + writer + WRITERS * (n % WRITERS))) > 0; n++)
		;
	_exit(0);
}

int main(int count, char **words)
{
	int registers = open(count > 1 ? words[1] : "", O_RDWR | O_SYNC);
	volatile uint32_t *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, registers, 0);

	if (at == MAP_FAILED)
		return 1;
	for (int writer = 0; writer < WRITERS; writer++)
		if (fork() == 0)
			write_on(writer);
	usleep(20000);
	for (int n = 0; n < TIMES; n++) {
		uint32_t set = at[CC];

		at[CC] = set & ~1u;
		at[CC] = set;
		usleep(3000);
	}
	puts("still there");
	fflush(stdout);
	_exit(0);
}
