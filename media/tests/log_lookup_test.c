// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the controller of a log-block layer knows of its groups, and what it has to look up on flash */
#include "log_support.h"

static u64 read_ns(struct fb_medium *m, u64 offset_bytes, u64 length_bytes)
{
	return idle_request(m, FB_READ, offset_bytes, length_bytes);
}

static struct fb_medium *medium_that_knows(u64 ftl, u64 groups)
{
	struct fb_params p = log_params(ftl, 2);

	p.known_groups = groups;
	return new_log_medium(&p);
}

static void a_group_that_was_not_used_lately_is_looked_up(void)
{
	const u64 known_ns = 1000 + READ_NS + 20480, look_up_ns = 25000;
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *m = medium_that_knows(ftl, 2);

		/* What is written is known: groups 2 and 3 are left */
		write_pages(m, 0, 4 * GROUP);
		CHECK_EQUAL(known_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(known_ns, read_ns(m, 3 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(0, fb_medium_counters(m)->map_read_pages);
		/* Group 0 takes the place of 2, which was not used for longer than 3 */
		CHECK_EQUAL(known_ns + look_up_ns, read_ns(m, 0, PAGE));
		CHECK_EQUAL(known_ns, read_ns(m, 3 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(known_ns + look_up_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		CHECK_EQUAL(2, fb_medium_counters(m)->map_read_pages);
		/* There is nothing to look up where nothing was written */
		CHECK_EQUAL(1000 + 20480, read_ns(m, 6 * GROUP * PAGE, PAGE));
		/* Without power nothing is known */
		CHECK_EQUAL(known_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		fb_power_on(m);
		CHECK_EQUAL(known_ns + look_up_ns, read_ns(m, 2 * GROUP * PAGE, PAGE));
		CHECK(!fb_verify(m));
		free(m);
	}
}

/* A log of the group's own is looked up too; one that groups share is known */
static void the_log_of_a_group_is_looked_up_with_it(void)
{
	u64 ftl;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *m = medium_that_knows(ftl, 1);

		write_pages(m, 0, 2 * GROUP);
		/* Page 1 goes to a log: where, is looked up when it has come */
		CHECK_EQUAL(WRITE_NS + 25000, write_page(m, 1));
		CHECK_EQUAL(1000 + READ_NS + 20480 + 25000, read_ns(m, GROUP * PAGE, PAGE));
		CHECK_EQUAL(1000 + READ_NS + 20480 + (ftl == FB_FTL_BAST ? 2 : 1) * 25000, read_ns(m, PAGE, PAGE));
		CHECK(!fb_verify(m));
		free(m);
	}
}

enum { BENCH_GROUP = 64 * PAGE, BENCH_GROUPS = 64, POSITIONS = 7, TRIES = 3 };

/* For each position the shortest of all tries */
struct alignment {
	u64 before_ns[POSITIONS];
	u64 on_ns[POSITIONS];
	u64 after_ns[POSITIONS];
};

static void read_interval(struct fb_medium *m, u64 *min_ns, u64 first, u64 every, u64 bytes)
{
	u32 i;

	for (i = 0; i < POSITIONS; i++) {
		u64 ns = read_ns(m, first + i * every, bytes);

		if (!min_ns[i] || ns < min_ns[i])
			min_ns[i] = ns;
	}
}

/* The access pattern of "flashbench -a": what a read across such a boundary takes longer than those beside it */
static u64 alignment_ns(struct fb_medium *m, u64 align, u64 every, u64 bytes)
{
	struct alignment a = { { 0 }, { 0 }, { 0 } };
	u64 on_ns = 0, beside_ns = 0;
	u32 i;

	for (i = 0; i < TRIES; i++) {
		read_interval(m, a.before_ns, align - bytes, every, bytes);
		read_interval(m, a.on_ns, align - bytes / 2, every, bytes);
		read_interval(m, a.after_ns, align, every, bytes);
	}
	for (i = 0; i < POSITIONS; i++) {
		on_ns += a.on_ns[i];
		beside_ns += a.before_ns[i] + a.after_ns[i];
	}
	CHECK(2 * on_ns >= beside_ns);
	return (2 * on_ns - beside_ns) / (2 * POSITIONS);
}

static struct fb_medium *written_medium(u64 ftl, u64 known_groups)
{
	struct fb_params p = log_params(ftl, 2);
	struct fb_medium *m;

	p.blocks_per_group = BENCH_GROUP / PAGE / p.pages_per_block;
	p.blocks_per_die = (BENCH_GROUPS + 3) * p.blocks_per_group;
	p.capacity_bytes = BENCH_GROUPS * BENCH_GROUP;
	p.known_groups = known_groups;
	m = new_log_medium(&p);
	idle_request(m, FB_WRITE, 0, p.capacity_bytes);
	return m;
}

/* Blocks of two pages and more: of a smaller one, half a page is read on each side of any boundary of pages */
static void reads_across_two_groups_tell_how_large_groups_are(void)
{
	const u64 every = BENCH_GROUPS * BENCH_GROUP / 8;
	u64 ftl, bytes, align;

	for (ftl = FB_FTL_BAST; ftl <= FB_FTL_FAST; ftl++) {
		struct fb_medium *few = written_medium(ftl, 4);
		struct fb_medium *all = written_medium(ftl, 0);

		for (bytes = 2 * PAGE; bytes <= 16 * PAGE; bytes *= 2) {
			for (align = every / 2; align >= 2 * bytes; align /= 2) {
				CHECK_EQUAL(align >= BENCH_GROUP ? 25000 : 0, alignment_ns(few, align, every, bytes));
				CHECK_EQUAL(0, alignment_ns(all, align, every, bytes));
			}
		}
		CHECK(!fb_verify(few));
		free(few);
		free(all);
	}
}

const struct test log_lookup_tests[] = {
	TEST(a_group_that_was_not_used_lately_is_looked_up),
	TEST(the_log_of_a_group_is_looked_up_with_it),
	TEST(reads_across_two_groups_tell_how_large_groups_are),
	END_OF_TESTS,
};
