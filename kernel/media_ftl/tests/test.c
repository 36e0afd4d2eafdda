// SPDX-License-Identifier: GPL-2.0-only
/*
 * The software translation layer against an oracle: what was written is read, through restarts, failing blocks and
 * power cuts. The number of cuts is the argument.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "layer.h"
#include "memory_flash.h"
#include "soft_nand.h"
#include "tag.h"
#include "transfer.h"

enum { BLOCKS = 64, PAGES_PER_BLOCK = 8, PAGE_BYTES = 512 };

static u32 wanted_cuts = 100;

static const enum fb_ftl_word ftls[] = { FB_FTL_PAGE, FB_FTL_BAST, FB_FTL_FAST };
static const char *const names[] = { [FB_FTL_PAGE] = "page", [FB_FTL_BAST] = "bast", [FB_FTL_FAST] = "fast" };

/* What each page should hold: version 0 is zeros. The write under way at a cut may be there or not. */
struct oracle {
	u32 *version;
	u32 last_version;
	u32 unsure_page;
	u32 unsure_version;
};

static void fill(u8 *data, u32 page, u32 version)
{
	u32 i;

	for (i = 0; i < PAGE_BYTES; i++)
		data[i] = version ? page * 7 + version * 13 + i * (version | 1) : 0;
	if (version) {
		memcpy(data, &page, sizeof(page));
		memcpy(data + 4, &version, sizeof(version));
	}
}

static struct sftl_config configuration(enum fb_ftl_word ftl)
{
	return (struct sftl_config) {
		.ftl = ftl, .spare_percent = 12, .over_provisioning_percent = 7, .log_blocks = 5,
	};
}

static struct sftl *start(struct memory_flash *f, enum fb_ftl_word ftl)
{
	struct sftl_config config = configuration(ftl);
	struct sftl *l = NULL;
	int err = sftl_start(&f->flash, &config, &l);

	CHECKF(!err, "%s: start says %d", names[ftl], err);
	return l;
}

static bool reads_as(struct sftl *l, u32 page, u32 version)
{
	u8 data[PAGE_BYTES], wanted[PAGE_BYTES];

	fill(wanted, page, version);
	return !sftl_read(l, page, data) && !memcmp(data, wanted, PAGE_BYTES);
}

static void check_all(struct sftl *l, struct oracle *o, const char *when, u64 seed)
{
	const char *fault = fb_ftl(fb_medium_params(l->medium))->verify(l->medium);
	u32 page;

	CHECKF(!fault, "seed %llu, %s: %s", (unsigned long long)seed, when, fault);
	for (page = 0; page < sftl_pages(l); page++) {
		if (page == o->unsure_page && reads_as(l, page, o->unsure_version))
			o->version[page] = o->unsure_version;
		CHECKF(reads_as(l, page, o->version[page]), "seed %llu, %s: page %u is not as it was written",
			(unsigned long long)seed, when, page);
	}
	o->unsure_page = ~0u;
}

/* Runs and single pages, mostly in a part of the medium, so that logs and collections see all their cases */
static int write_some(struct memory_flash *f, struct sftl *l, struct oracle *o, u32 writes)
{
	u32 pages = sftl_pages(l);
	u32 page = 0, run = 0;

	while (writes--) {
		u8 data[PAGE_BYTES];
		int err;

		if (!run) {
			u64 dice = memory_flash_random(f);

			run = dice % 3 ? 1 : dice / 3 % (2 * PAGES_PER_BLOCK) + 1;
			page = memory_flash_random(f) % (memory_flash_random(f) % 4 ? pages / 3 : pages);
			if (run > PAGES_PER_BLOCK)
				page -= page % PAGES_PER_BLOCK;
		}
		fill(data, page, ++o->last_version);
		err = sftl_write(l, page, data);
		if (err) {
			o->unsure_page = page;
			o->unsure_version = o->last_version;
			return err;
		}
		o->version[page] = o->last_version;
		run--;
		page = (page + 1) % pages;
	}
	return 0;
}

static void begin(struct memory_flash *f, struct oracle *o, u64 seed)
{
	memory_flash_make(f, BLOCKS, PAGES_PER_BLOCK, PAGE_BYTES, seed);
	*o = (struct oracle) { .version = calloc(BLOCKS * PAGES_PER_BLOCK, sizeof(u32)), .unsure_page = ~0u };
	f->bad[3 + seed % 7] = true;
}

static void end(struct memory_flash *f, struct oracle *o)
{
	memory_flash_free(f);
	free(o->version);
}

static void test_tags(void)
{
	struct sftl_tag tag = { .page = 123456, .lost = true, .copied = false, .sequence = 0x1deadbeefull }, got;
	u8 spare[SFTL_SPARE_BYTES], erased[SFTL_SPARE_BYTES];
	u32 i, j;

	sftl_encode(&tag, spare);
	for (i = 0; i < 64; i++) {
		spare[i / 8] ^= 1 << i % 8;
		CHECKF(sftl_decode(spare, &got) == SFTL_TAGGED && got.page == tag.page && got.lost && !got.copied &&
			got.sequence == tag.sequence, "bit %u", i);
		for (j = 0; j < i; j++) {
			spare[j / 8] ^= 1 << j % 8;
			CHECKF(sftl_decode(spare, &got) == SFTL_ILLEGIBLE, "bits %u and %u", i, j);
			spare[j / 8] ^= 1 << j % 8;
		}
		spare[i / 8] ^= 1 << i % 8;
	}
	memset(erased, 0xff, sizeof(erased));
	CHECKF(sftl_decode(erased, &got) == SFTL_ERASED, "all bits set");
	erased[2] = 0xfb;
	CHECKF(sftl_decode(erased, &got) == SFTL_ERASED, "all bits but one");
	puts("tags: one wrong bit is corrected, two are noticed");
}

static void restart(enum fb_ftl_word ftl)
{
	struct memory_flash f;
	struct oracle o;
	u32 i;

	begin(&f, &o, 1);
	for (i = 0; i < 50; i++) {
		struct sftl *l = start(&f, ftl);

		check_all(l, &o, "after a restart", i);
		CHECKF(!write_some(&f, l, &o, 500), "write");
		check_all(l, &o, "before a restart", i);
		sftl_stop(l);
	}
	CHECKF(!f.violations, "%llu rules of the chip broken", (unsigned long long)f.violations);
	printf("%s: 50 restarts, 25,000 writes\n", names[ftl]);
	end(&f, &o);
}

/* Blocks fail until the spares are used up; then the layer refuses writes and everything is still there */
static void fail(enum fb_ftl_word ftl)
{
	struct memory_flash f;
	struct oracle o;
	struct sftl *l;
	u64 bad;
	u32 seed;

	for (seed = 1; seed <= 20; seed++) {
		begin(&f, &o, seed);
		f.program_failures = 20;
		f.erase_failures = 20;
		l = start(&f, ftl);
		while (!write_some(&f, l, &o, 1000))
			;
		bad = l->statistics.bad_blocks;
		f.program_failures = 0;
		f.erase_failures = 0;
		CHECKF(bad >= 5, "only %llu blocks failed", (unsigned long long)bad);
		check_all(l, &o, "out of spares", seed);
		sftl_stop(l);
		CHECKF(!f.violations, "%llu rules of the chip broken", (unsigned long long)f.violations);
		end(&f, &o);
	}
	printf("%s: 20 times failing blocks until no spare was left\n", names[ftl]);
}

/* The power may go in the middle of a start, and of the next one */
static struct sftl *start_through_cuts(struct memory_flash *f, enum fb_ftl_word ftl, u32 *cuts)
{
	struct sftl_config config = configuration(ftl);
	struct sftl *l = NULL;
	int err;

	for (;;) {
		memory_flash_on(f);
		f->cut_at = f->operations + 1 + memory_flash_random(f) % (memory_flash_random(f) % 4 ? 400 : 10);
		err = sftl_start(&f->flash, &config, &l);
		if (!err && !f->off)
			return l;
		if (!err)
			sftl_stop(l);	/* an erase that failed was its last operation */
		CHECKF(f->off, "%s: start says %d", names[ftl], err);
		++*cuts;
	}
}

/* Cut upon cut on the same flash */
static void cut(enum fb_ftl_word ftl)
{
	struct memory_flash f;
	struct oracle o;
	u64 merged = 0;
	u32 cuts = 0, in_starts = 0;

	begin(&f, &o, 99);
	f.wrong_bits = 20;
	while (cuts + in_starts < wanted_cuts) {
		struct sftl *l = start_through_cuts(&f, ftl, &in_starts);

		merged += l->statistics.merged_at_start;
		check_all(l, &o, "after a cut", cuts + in_starts);
		while (!f.off && !write_some(&f, l, &o, 50))
			;
		cuts++;
		sftl_stop(l);
		CHECKF(!f.violations, "cut %u: %llu rules of the chip broken", cuts,
			(unsigned long long)f.violations);
	}
	printf("%s: %u cuts and %u in starts, %llu groups merged at starts\n", names[ftl], cuts, in_starts,
	       (unsigned long long)merged);
	end(&f, &o);
}

static void test_blank_chip(void)
{
	struct memory_flash f;
	struct oracle o;

	begin(&f, &o, 1);
	sftl_stop(start(&f, FB_FTL_PAGE));
	CHECKF(f.reads == BLOCKS - 1, "%llu reads of a blank chip, which has %u good blocks",
		(unsigned long long)f.reads, BLOCKS - 1);
	end(&f, &o);
}

/* The block that is left as torn loses its first page too: what lies behind it must not look blank at the next start */
static void test_block_without_first_page(void)
{
	struct memory_flash f;
	struct oracle o;
	struct sftl *l;
	u8 data[PAGE_BYTES];
	u32 page, starts;

	begin(&f, &o, 1);
	l = start(&f, FB_FTL_PAGE);
	for (page = 0; page < 5; page++) {
		fill(data, page, page + 1);
		CHECKF(!sftl_write(l, page, data), "a write failed");
	}
	memory_flash_turn_bit(&f, 0, false);
	memory_flash_turn_bit(&f, 4, false);
	memory_flash_turn_bit(&f, 4, true);
	for (starts = 0; starts < 3; starts++) {
		sftl_stop(l);
		l = start(&f, FB_FTL_PAGE);
		for (page = 0; page < 5; page++)
			CHECKF(reads_as(l, page, page % 4 ? page + 1 : 0), "page %u after start %u", page, starts);
	}
	sftl_stop(l);
	end(&f, &o);
}

/*
 * Half of each of two pages in one request, of which the first cannot be read: none of it may reach the flash with a
 * later request, least of all with one that reads.
 */
static void test_failed_request(void)
{
	enum { HALF = PAGE_BYTES / 2 };
	u8 data[3][PAGE_BYTES], gathered[PAGE_BYTES], rest[PAGE_BYTES], newer[PAGE_BYTES];
	struct sftl_transfer t = { .data = gathered, .rest = rest };
	struct memory_flash f;
	struct oracle o;
	struct sftl *l;
	u32 page;
	int err;

	begin(&f, &o, 1);
	l = t.layer = start(&f, FB_FTL_PAGE);
	for (page = 0; page < 3; page++) {
		fill(data[page], page, page + 1);
		CHECKF(!sftl_write(l, page, data[page]), "a write failed");
	}
	memset(newer, 0xa5, sizeof(newer));
	f.failing_read = f.reads + 1;
	err = sftl_transfer(&t, true, 0, newer, HALF);
	if (!err)
		err = sftl_transfer(&t, true, 2 * PAGE_BYTES, newer, HALF);
	CHECKF(err == -EIO && f.reads == f.failing_read, "%d after %llu reads", err, (unsigned long long)f.reads);
	CHECKF(sftl_transfer_end(&t, err) == -EIO, "the failure is forgotten");

	/* Another request changes the page of the second piece, a third only reads */
	fill(data[2], 2, 99);
	CHECKF(!sftl_transfer_end(&t, sftl_transfer(&t, true, 2 * PAGE_BYTES, data[2], PAGE_BYTES)), "a write failed");
	CHECKF(!sftl_transfer_end(&t, sftl_transfer(&t, false, PAGE_BYTES, newer, PAGE_BYTES)), "a read failed");
	CHECKF(!memcmp(newer, data[1], PAGE_BYTES), "reads something else");
	CHECKF(reads_as(l, 0, 1) && reads_as(l, 1, 2) && reads_as(l, 2, 99), "an older piece came later");
	sftl_stop(l);
	end(&f, &o);
}

/* Each translation layer in turn */
static void each(void (*test)(enum fb_ftl_word ftl))
{
	u32 i;

	for (i = 0; i < sizeof(ftls) / sizeof(ftls[0]); i++)
		test(ftls[i]);
}

static void test_restarts(void)
{
	each(restart);
}

static void test_failures(void)
{
	each(fail);
}

static void test_cuts(void)
{
	each(cut);
}

/* Of 64 blocks, 67108865 % are 64 again where the product has 32 bits */
static void test_spares_of_a_hundred_percent_are_refused(void)
{
	static const u32 percents[] = { 100, 101, 67108865, ~0u };
	struct sftl_config config = configuration(FB_FTL_PAGE);
	struct memory_flash f;
	struct sftl *l = NULL;
	u32 i;

	memory_flash_make(&f, 64, PAGES_PER_BLOCK, PAGE_BYTES, 1);
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		config.spare_percent = percents[i];
		CHECKF(sftl_start(&f.flash, &config, &l) == -EINVAL, "%u %% are taken", percents[i]);
	}
	memory_flash_free(&f);
}

static const struct test tests[] = {
	TEST(test_spares_of_a_hundred_percent_are_refused),
	TEST(test_tags),
	TEST(test_blank_chip),
	TEST(test_block_without_first_page),
	TEST(test_failed_request),
	TEST(test_restarts),
	TEST(test_failures),
	TEST(test_cuts),
	END_OF_TESTS
};

int main(int argc, char **argv)
{
	if (argc > 1)
		wanted_cuts = strtoul(argv[1], NULL, 10);
	return RUN_TESTS(tests);
}
