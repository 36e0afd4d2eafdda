// SPDX-License-Identifier: Apache-2.0
/* Memory shared by the load processes */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "message.h"
#include "shared.h"

struct shared *shared_make(const struct fileset *set, uint32_t processes)
{
	size_t results = processes * sizeof(struct result);
	size_t handles = (set->directories + set->accessed) * sizeof(struct handle);
	size_t size = sizeof(struct shared) + results + handles + PLAIN_FILES * sizeof(struct plain_name);
	struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		end_with(EXIT_HOST, "no memory for %zu bytes: %s", size, strerror(errno));
	shared->results = (struct result *)(shared + 1);
	shared->directories = (struct handle *)((char *)shared->results + results);
	shared->files = shared->directories + set->directories;
	shared->names = (struct plain_name *)(shared->files + set->accessed);
	return shared;
}
