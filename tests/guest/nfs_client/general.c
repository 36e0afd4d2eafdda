// SPDX-License-Identifier: Apache-2.0
/* What people do there: several work in trees of sources with the tools of a shell (work.sh), two of them by each mount */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

enum { PEOPLE = 4 };

static int work(void)
{
	pid_t people[PEOPLE];

	for (int i = 0; i < PEOPLE; i++) {
		people[i] = fork();
		MUST(people[i] >= 0);
		if (!people[i]) {
			execl("/bin/busybox", "busybox", "sh", "/bin/work.sh", at(i % 2, "work.%d", i), at(1 - i % 2, "work.%d", i),
			      NULL);
			_exit(127);
		}
	}
	for (int i = 0; i < PEOPLE; i++)
		MUST(ended_well(people[i]));
	return 0;
}

const struct nfs_case general_cases[] = {
	{ "work_of_four", work },
	{ NULL, NULL },
};
