// SPDX-License-Identifier: Apache-2.0
/* writers FILE...: a thread for each file writes 20 blocks to it, and flushes each. It reports a figure of its own. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCKS = 20, BLOCK = 4096, MOST = 16 };

static void *written(void *name)
{
	static const char block[BLOCK] = "a block";
	int file = open(name, O_CREAT | O_WRONLY, 0644);

	for (int i = 0; i < BLOCKS; i++)
		if (write(file, block, BLOCK) != BLOCK || fsync(file)) {
			perror(name);
			exit(1);
		}
	close(file);
	return NULL;
}

int main(int words, char **word)
{
	pthread_t threads[MOST];
	FILE *figures = fopen(getenv("FLASHBED_FIGURES"), "a");

	for (int i = 1; i < words; i++)
		pthread_create(&threads[i], NULL, written, word[i]);
	for (int i = 1; i < words; i++)
		pthread_join(threads[i], NULL);
	return fprintf(figures, "blocks %d\n", (words - 1) * BLOCKS) < 0 || fclose(figures);
}
