// SPDX-License-Identifier: Apache-2.0
/*
 * medium WORD...: gives the emulator's medium a command (HINT #114; emulator/lab-medium.h lists them), and waits as
 * long as the answer says. The kernel needs no support for it.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TEXT_BYTES = 96, NS_PER_S = 1000000000 };

static int64_t say(const char *text)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);

	register int64_t x0 __asm__("x0") = (int64_t)text;
	register int64_t x1 __asm__("x1") = (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;

	__asm__ volatile("hint #114" : "+r"(x0) : "r"(x1) : "memory");
	return x0;
}

int main(int argc, char **argv)
{
	char text[TEXT_BYTES] = "";
	size_t length = 0;

	for (int i = 1; i < argc && length < sizeof(text); i++)
		length += snprintf(text + length, sizeof(text) - length, "%s%s", i > 1 ? " " : "", argv[i]);

	int64_t wait = length < sizeof(text) ? say(text) : -1;

	if (wait < 0 || wait == (int64_t)text) {
		fprintf(stderr, "medium: %s: nobody takes this word\n", text);
		return 1;
	}

	struct timespec rest = { .tv_sec = wait / NS_PER_S, .tv_nsec = wait % NS_PER_S };

	return nanosleep(&rest, NULL) ? 1 : 0;
}
