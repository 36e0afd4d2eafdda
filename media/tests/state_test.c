// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What becomes of a state that is made, copied, cut off or damaged */
#include "samples.h"
#include "state.h"
#include "test.h"

static enum fb_error open_error(void *memory, size_t bytes)
{
	struct fb_medium *medium = NULL;
	enum fb_error error = fb_open(memory, bytes, &medium);

	CHECK((error == FB_OK) == (medium != NULL));
	return error;
}

static void each_fault_of_a_state_has_its_error(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m = new_medium(&params);
	size_t bytes = m->state_bytes;

	CHECK_EQUAL(FB_OK, open_error(m, bytes));
	CHECK_EQUAL(FB_OK, open_error(m, bytes + 4096));
	CHECK_EQUAL(FB_NOT_A_STATE, open_error(m, 4));
	CHECK_EQUAL(FB_TRUNCATED, open_error(m, 16));
	CHECK_EQUAL(FB_TRUNCATED, open_error(m, sizeof(*m) - 1));
	CHECK_EQUAL(FB_TRUNCATED, open_error(m, bytes - 1));

	m->version++;
	CHECK_EQUAL(FB_OTHER_VERSION, open_error(m, bytes));
	m->version--;
	m->param_count++;
	CHECK_EQUAL(FB_OTHER_VERSION, open_error(m, bytes));
	m->param_count--;
	m->params.dies = 0;
	CHECK_EQUAL(FB_BAD_PARAMETER, open_error(m, bytes));
	m->params.dies = 2;
	CHECK_EQUAL(FB_DAMAGED, open_error(m, bytes));
	m->params.dies = 1;
	m->flash.ftl.map_offset += 64;
	CHECK_EQUAL(FB_DAMAGED, open_error(m, bytes));
	m->flash.ftl.map_offset -= 64;
	CHECK_EQUAL(FB_OK, open_error(m, bytes));
	m->magic = 0;
	CHECK_EQUAL(FB_NOT_A_STATE, open_error(m, bytes));
	free(m);
}

static void a_damaged_disk_is_refused(void)
{
	struct fb_params params = sample_disk();
	struct fb_medium *m = new_medium(&params);

	m->disk.geometry.zone[1].sectors_per_track++;
	CHECK_EQUAL(FB_DAMAGED, open_error(m, m->state_bytes));
	free(m);
}

static void init_refuses_what_does_not_fit(void)
{
	struct fb_params params = sample_flash();
	size_t bytes = fb_state_bytes(&params);
	void *memory = aligned_alloc(64, bytes);

	memset(memory, 0, bytes);
	CHECK_EQUAL(FB_TRUNCATED, fb_init(memory, bytes - 1, &params));
	params.dies = 0;
	CHECK_EQUAL(FB_BAD_PARAMETER, fb_init(memory, bytes, &params));
	CHECK_EQUAL(FB_NOT_A_STATE, open_error(memory, bytes));
	free(memory);
}

static void requests_outside_the_medium_are_never_done(void)
{
	struct fb_params all[] = { sample_flash(), sample_disk(), sample_null() };
	int i;

	for (i = 0; i < (int)(sizeof(all) / sizeof(all[0])); i++) {
		u64 end = all[i].capacity_bytes;
		struct fb_medium *m = new_medium(&all[i]);

		CHECK(submit(m, FB_READ, end - 512, 512, 0) != FB_NEVER);
		CHECK_EQUAL(FB_NEVER, submit(m, FB_READ, end - 512, 1024, 0));
		CHECK_EQUAL(FB_NEVER, submit(m, FB_WRITE, end, 512, 0));
		CHECK_EQUAL(FB_NEVER, submit(m, FB_WRITE, ~(u64)0 - 511, 512, 0));
		CHECK_EQUAL(FB_NEVER, submit(m, FB_WRITE, 512, ~(u64)0 - 511, 0));
		CHECK_EQUAL(FB_NEVER, submit(m, FB_DISCARD, 0, 0, 0));
		CHECK_EQUAL(FB_NEVER, submit(m, FB_READ, 100, 512, 0));
		CHECK_EQUAL(FB_NEVER, submit(m, FB_READ, 0, 100, 0));
		CHECK_EQUAL(FB_NEVER, submit(m, 77, 0, 512, 0));
		CHECK_EQUAL(1, fb_medium_counters(m)->host_reads);
		CHECK_EQUAL(0, fb_medium_counters(m)->host_writes);
		free(m);
	}
}

static void null_takes_no_time_and_counts(void)
{
	struct fb_params params = sample_null();
	struct fb_medium *m = new_medium(&params);

	CHECK_EQUAL(5, submit(m, FB_READ, 0, 4096, 5));
	CHECK_EQUAL(6, submit(m, FB_WRITE, 0, 1024, 6));
	CHECK_EQUAL(7, submit(m, FB_DISCARD, 0, 512, 7));
	CHECK_EQUAL(8, submit(m, FB_FLUSH, 0, 0, 8));
	CHECK_EQUAL(4096, fb_medium_counters(m)->host_read_bytes);
	CHECK_EQUAL(1024, fb_medium_counters(m)->host_written_bytes);
	CHECK_EQUAL(512, fb_medium_counters(m)->host_discarded_bytes);
	CHECK_EQUAL(1, fb_medium_counters(m)->host_flushes);
	free(m);
}

/* Each of the operations that a file system asks for, at random */
static struct fb_request random_request(const struct fb_params *params, u64 *seed)
{
	static const enum fb_op ops[] = { FB_READ, FB_READ, FB_WRITE, FB_WRITE, FB_WRITE, FB_DISCARD, FB_FLUSH };
	u64 sectors = params->capacity_bytes / params->sector_bytes;
	struct fb_request request = { .op = ops[next_random(seed) % 7] };
	u64 first = next_random(seed) % sectors;
	u64 count = 1 + next_random(seed) % 16;

	if (first + count > sectors)
		count = sectors - first;
	request.offset_bytes = first * params->sector_bytes;
	request.length_bytes = count * params->sector_bytes;
	return request;
}

/* To announce a request, also one that will be refused, leaves each byte as it is */
static void an_announced_request_changes_nothing(void)
{
	struct fb_params all[] = { sample_flash(), sample_disk(), sample_null() };
	u64 seed = 5;
	int kind, i;
	u32 step;

	for (kind = 0; kind < 3; kind++) {
		struct fb_medium *m = new_medium(&all[kind]);
		size_t bytes = m->state_bytes;
		void *before = aligned_alloc(64, bytes);

		for (i = 0; i < 500; i++) {
			struct fb_request request = random_request(&all[kind], &seed);

			fb_submit(m, &request, i * 1000);
			request = random_request(&all[kind], &seed);
			if (i % 10 == 0)
				request.offset_bytes += all[kind].capacity_bytes;
			memcpy(before, m, bytes);
			for (step = 0; step < FB_PREFETCH_STEPS; step++)
				fb_prefetch(m, &request, step);
			CHECK(!memcmp(before, m, bytes));
		}
		free(before);
		free(m);
	}
}

/* A state that was moved in memory goes on exactly like the one that stayed */
static void a_state_can_be_moved(void)
{
	struct fb_params all[] = { sample_flash(), sample_disk() };
	u64 seed = 3;
	int kind, i;

	for (kind = 0; kind < 2; kind++) {
		struct fb_medium *stays = new_medium(&all[kind]);
		size_t bytes = stays->state_bytes;
		struct fb_medium *moved = aligned_alloc(64, bytes);
		u64 now_ns = 0;

		for (i = 0; i < 2000; i++) {
			struct fb_request request = random_request(&all[kind], &seed);

			if (i == 1000)
				memcpy(moved, stays, bytes);
			if (i >= 1000)
				CHECK(fb_submit(stays, &request, now_ns) == fb_submit(moved, &request, now_ns));
			else
				fb_submit(stays, &request, now_ns);
			now_ns += next_random(&seed) % 1000000;
		}
		CHECK(!memcmp(stays, moved, bytes));
		CHECK(!fb_verify(moved));
		free(stays);
		free(moved);
	}
}

/* Neither the dies nor the channel nor the link are still busy where they were before */
static void power_on_forgets_what_was_under_way(void)
{
	struct fb_params params = sample_flash();
	struct fb_medium *m;
	u64 before_ns = 1000000000;

	params.dies = 2;
	m = new_medium(&params);
	submit(m, FB_WRITE, 0, 2048, before_ns);
	fb_power_on(m);
	CHECK_EQUAL(1000, submit(m, FB_FLUSH, 0, 0, 0));
	CHECK_EQUAL(1000000 + 1000 + 25000 + 51200 + 20480, submit(m, FB_READ, 0, 2048, 1000000));
	CHECK_EQUAL(before_ns + 1000 + 20480 + 51200 + 200000, submit(m, FB_WRITE, 2048, 2048, before_ns));
	free(m);
}

static void power_on_frees_the_arm(void)
{
	struct fb_params params = sample_disk();
	struct fb_medium *m = new_medium(&params);

	submit(m, FB_WRITE, 0, 512, 1000000000);
	fb_power_on(m);
	CHECK_EQUAL(100000, submit(m, FB_READ, 0, 512, 0));
	free(m);
}

const struct test state_tests[] = {
	TEST(each_fault_of_a_state_has_its_error),
	TEST(a_damaged_disk_is_refused),
	TEST(init_refuses_what_does_not_fit),
	TEST(requests_outside_the_medium_are_never_done),
	TEST(null_takes_no_time_and_counts),
	TEST(an_announced_request_changes_nothing),
	TEST(a_state_can_be_moved),
	TEST(power_on_forgets_what_was_under_way),
	TEST(power_on_frees_the_arm),
	END_OF_TESTS,
};
