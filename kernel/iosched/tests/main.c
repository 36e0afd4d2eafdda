// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

void check_failed(const char *file, int line, const char *condition)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, condition);
	exit(1);
}

void check_equal(const char *file, int line, const char *what, u64 expected, u64 actual)
{
	if (expected == actual)
		return;
	fflush(stdout);
	fprintf(stderr, "%s:%d: %s is %" PRIu64 ", not %" PRIu64 "\n", file, line, what, actual, expected);
	exit(1);
}

struct ios_request request(u64 sector, u32 sectors, bool sync)
{
	struct ios_request rq = { .sector = sector, .sectors = sectors, .sync = sync, .more_follows = sync };

	ios_request_init(&rq);
	return rq;
}

u64 next_random(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static int run(const struct test *tests)
{
	int count = 0;

	for (; tests->run; tests++, count++) {
		printf("%s\n", tests->name);
		fflush(stdout);
		tests->run();
	}
	return count;
}

int main(void)
{
	int count = run(common_tests) + run(as_tests) + run(as_wait_tests) + run(cfq_tests) + run(cfq_idle_tests) +
		    run(load_tests);

	printf("%d tests passed\n", count);
	return 0;
}
