// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Puts each file that is named to a fuzzer's entry, once: the kept corpus as a test, with any compiler.
 *	corpus-NAME FILE ...
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 16 };

static const char *current;

static void aborted(int number)
{
	fprintf(stderr, "%s: aborted\n", current);
	signal(number, SIG_DFL);
}

static size_t read_whole(const char *path, uint8_t *data)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		exit(1);
	}
	size = fread(data, 1, MAX_BYTES, file);
	fclose(file);
	return size;
}

int main(int argc, char **argv)
{
	static uint8_t data[MAX_BYTES];
	int i;

	signal(SIGABRT, aborted);
	for (i = 1; i < argc; i++) {
		size_t size = read_whole(argv[i], data);
		uint8_t *input = malloc(size ? size : 1);	/* of its very size: a read beyond it is caught */
		size_t at;

		current = argv[i];
		if (!input)
			return 1;
		for (at = 0; at < size; at++)
			input[at] = data[at];
		LLVMFuzzerTestOneInput(input, size);
		free(input);
	}
	printf("%s: %d inputs\n", argv[0], argc - 1);
	return argc > 1 ? 0 : 1;
}
