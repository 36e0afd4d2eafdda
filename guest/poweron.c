// SPDX-License-Identifier: Apache-2.0
/*
 * poweron WORD: writes the time since power-on to the kernel's log: "flashbed: WORD NS", in nanoseconds.
 *
 * The kernel's log times begin when it has found its clock. The architecture's counter (CNTVCT_EL0) runs from power-on.
 * The line's own time in the log gives the offset.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	uint64_t count, a_second;
	char line[128];
	int fd = open("/dev/kmsg", O_WRONLY);

	if (argc != 2 || fd < 0) {
		fprintf(stderr, "poweron: usage: poweron WORD, where /dev/kmsg can be written\n");
		return 1;
	}
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(a_second));
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(count) : : "memory");

	uint64_t ns = count / a_second * 1000000000 + count % a_second * 1000000000 / a_second;
	int length = snprintf(line, sizeof(line), "<7>flashbed: %s %" PRIu64, argv[1], ns);

	return write(fd, line, length) == length ? 0 : 1;
}
