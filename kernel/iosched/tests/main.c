// SPDX-License-Identifier: GPL-2.0-only
/* Runs all tests, file by file; what they share */
#include "test.h"

struct ios_request request(u64 sector, u32 sectors, bool sync)
{
	struct ios_request rq = { .sector = sector, .sectors = sectors, .sync = sync, .more_follows = sync };

	ios_request_init(&rq);
	return rq;
}

int main(void)
{
	return RUN_TESTS(common_tests, as_tests, as_wait_tests, cfq_tests, cfq_idle_tests, load_tests);
}
