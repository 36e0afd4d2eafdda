// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Any raw chip that the core accepts, put to any cycles on its bus or to any of its operations, stays in agreement with
 * itself, answers no earlier than it was asked and counts each broken rule. Of its content: a page that nobody has
 * programmed since it was erased is 0xff; only an erase sets bits, and a cut or a reset that tears a program leaves none
 * set that was clear before that program; no more pages change than the chip says it has programmed or erased; and a page
 * reads as it lies there unless bits of it are wrong. The input is read as sample's number, changes of its parameters,
 * then steps.
 */
#include "chip.h"
#include "fb_chip_bus.h"
#include "input.h"
#include "state.h"

enum { MAX_CHANGES = 6, MAX_STEPS = 2048, VERIFY_EVERY = 64, MAX_CONTENT_BYTES = 1 << 18, MAX_BYTES = 2048 };

/* As many planes and pages in a cell as a chip can have: most is torn at a time */
static struct fb_params wide_chip(void)
{
	struct fb_params params = sample_mlc_chip();

	params.planes = 8;
	params.bits_per_cell = 3;
	params.blocks_per_die = 32;
	return params;
}

/* A chip of few and short blocks, so that sequences meet each other */
static struct fb_params any_params(struct input *input)
{
	struct fb_params (*const samples[])(void) = { sample_chip, sample_large_chip, sample_mlc_chip, wide_chip };
	u64 number = input_number(input, 1);
	struct fb_params params = samples[number % 4]();
	u64 changes = input_number(input, 1) % MAX_CHANGES;

	if (params.page_bytes > 512) {
		params.page_bytes = 1024;
		params.spare_bytes = 32;
	}
	params.pages_per_block = 4;
	if (number & 0x80) {
		u64 blocks = params.blocks_per_die;

		make_unreliable(&params);
		params.blocks_per_die = blocks;
	}
	while (changes--) {
		u64 index = input_number(input, 1) % FB_PARAM_COUNT;
		const struct fb_param_rule *rule = fb_param_rule(index);

		if (rule->kinds & FB_OF_CHIP)
			params.by_index[index] = rule->min + input_number(input, 2) % (rule->max - rule->min + 1);
	}
	params.kind = FB_NAND;
	params.capacity_bytes = fb_chip_pages(&params) * params.page_bytes;
	return params;
}

/* --- through the bus --- */

/* The chip, and its content and counters as they were before the present step; and before the last change of each page */
struct bench {
	struct fb_medium *chip;
	struct fb_chip_bus *bus;
	u8 *content;
	u8 *registers;
	u8 *before;
	u8 *old;
	u64 programmed;
	u64 erased;
};

static bool all_set(const u8 *bytes, u64 count)
{
	return !count || (*bytes == 0xff && !memcmp(bytes, bytes + 1, count - 1));
}

static void check_erased(const struct bench *b)
{
	u64 bytes = fb_raw_page_bytes(fb_medium_params(b->chip));
	u64 page;

	for (page = 0; page < fb_chip_pages(fb_medium_params(b->chip)); page++)
		CHECK(*fb_chip_programs(b->chip, page) || all_set(b->content + page * bytes, bytes));
}

static bool sets_bits(const u8 *before, const u8 *content, u64 bytes)
{
	u64 i;

	for (i = 0; i < bytes; i++)
		if (content[i] & ~before[i])
			return true;
	return false;
}

/* Where an erase may be torn, or a page that shares cells with one that is, bits may be set */
static bool may_set_bits(const struct fb_medium *chip)
{
	u32 i;

	for (i = 0; i < 2; i++)
		if (chip->chip.work[i].planes && chip->chip.work[i].op == FB_CHIP_ERASE)
			return true;
	return chip->params.paired_page_loss;
}

static void check_changes(struct bench *b, bool torn, bool exempt)
{
	const struct fb_params *p = fb_medium_params(b->chip);
	const struct fb_counters *counters = fb_medium_counters(b->chip);
	u64 erased = counters->flash_erased_blocks - b->erased;
	u64 allowed = counters->flash_programmed_pages - b->programmed + erased * p->pages_per_block;
	u64 bytes = fb_raw_page_bytes(p), changed = 0, page;

	for (page = 0; page < fb_chip_pages(p); page++) {
		u8 *before = b->before + page * bytes, *old = b->old + page * bytes;
		const u8 *content = b->content + page * bytes;

		if (!memcmp(before, content, bytes))
			continue;
		changed++;
		CHECK(exempt || erased || !sets_bits(torn ? old : before, content, bytes));
		memcpy(old, before, bytes);
		memcpy(before, content, bytes);
	}
	CHECK(changed <= allowed || torn);
	b->programmed += counters->flash_programmed_pages - b->programmed;
	b->erased += erased;
}

static void put_page_address(struct fb_chip_bus *bus, struct input *input, u64 now_ns)
{
	const struct fb_params *p = fb_medium_params(bus->chip);
	u64 page = input_number(input, 1) % (fb_chip_pages(p) + 1);

	if (bus->command != 0x60) {
		fb_bus_address(bus, input_number(input, 1), now_ns);
		if (p->page_bytes != 512)
			fb_bus_address(bus, input_number(input, 1) % 16, now_ns);
	}
	fb_bus_address(bus, page, now_ns);
	fb_bus_address(bus, page >> 8, now_ns);
	if (fb_chip_pages(p) > 65536)
		fb_bus_address(bus, page >> 16, now_ns);
}

/* What drivers do, so that not each cycle of it must be found by chance. Returns whether it ends in a reset. */
static bool put_operation(struct fb_chip_bus *bus, u64 kind, struct input *input, u64 now_ns)
{
	static const u8 first[] = { 0x00, 0x80, 0x60, 0x80 };
	static const u8 last[][3] = {
		{ 0x30, 0x32, 0x35 }, { 0x10, 0x11, 0x15 }, { 0xd0, 0xd1, 0xff }, { 0x85, 0x15, 0x10 },
	};
	u8 bytes[4] = { kind, 0, kind, 0x5a };

	fb_bus_command(bus, first[kind % 4], now_ns);
	put_page_address(bus, input, now_ns);
	if (kind & 1)
		fb_bus_write(bus, bytes, sizeof(bytes));
	fb_bus_command(bus, last[kind % 4][kind / 4 % 3], now_ns);
	return last[kind % 4][kind / 4 % 3] == 0xff;
}

/*
 * Reads a page whole; what comes is what lies there, and 0xff behind it. The content of a chip with wrong bits is not
 * compared.
 */
static void read_back(struct bench *b, struct input *input, u64 now_ns)
{
	struct fb_chip_bus *bus = b->bus;
	const struct fb_params *p = fb_medium_params(bus->chip);
	u64 page = input_number(input, 1) % fb_chip_pages(p), bytes = fb_raw_page_bytes(p), i;
	u64 breaches = fb_chip_breaches(bus->chip), reads = fb_medium_counters(bus->chip)->flash_read_pages;
	u8 read[MAX_BYTES];

	fb_bus_command(bus, 0x00, now_ns);
	for (i = p->page_bytes == 512 ? 1 : 2; i; i--)
		fb_bus_address(bus, 0, now_ns);
	for (i = fb_chip_pages(p) > 65536 ? 3 : 2; i; i--, page >>= 8)
		fb_bus_address(bus, page, now_ns);
	fb_bus_command(bus, 0x30, now_ns);
	if (fb_chip_breaches(bus->chip) != breaches || bytes >= MAX_BYTES)
		return;
	CHECK(fb_medium_counters(bus->chip)->flash_read_pages > reads);
	fb_bus_read(bus, read, bytes + 1, bus->ready_ns);
	CHECK(read[bytes] == 0xff);
	CHECK(p->ecc_bits || !memcmp(read, b->content + bus->read_page * bytes, bytes));
}

/* Returns whether a reset may have torn what was under way */
static bool put_cycle(struct bench *b, struct input *input, u64 now_ns)
{
	static const u8 commands[] = { 0x00, 0x01, 0x50, 0x30, 0x32, 0x35, 0x31, 0x3f, 0x05, 0x06, 0xe0, 0x80,
				       0x85, 0x10, 0x11, 0x15, 0x60, 0xd0, 0xd1, 0x70, 0x78, 0x90, 0xec, 0xff };
	u64 kind = input_number(input, 1);
	u8 bytes[MAX_BYTES], command = commands[kind / 8 % sizeof(commands)];
	u32 count;

	switch (kind % 8) {
	case 0:
		fb_bus_command(b->bus, command, now_ns);
		return command == 0xff;
	case 1:
		read_back(b, input, now_ns);
		return false;
	case 2:
		put_page_address(b->bus, input, now_ns);
		return false;
	case 3:
		fb_bus_address(b->bus, input_number(input, 1), now_ns);
		return false;
	case 4:
		memset(bytes, input_number(input, 1), sizeof(bytes));
		fb_bus_write(b->bus, bytes, input_number(input, 2) % MAX_BYTES);
		return false;
	case 5:
		count = input_number(input, 2) % MAX_BYTES;
		fb_bus_read(b->bus, bytes, count, now_ns);
		return false;
	}
	return put_operation(b->bus, kind / 8, input, now_ns);
}

static void cut(struct bench *b, u64 now_ns, u64 seed)
{
	fb_bus_cut(b->bus, now_ns, seed);
	CHECK(!fb_verify(b->chip));
	fb_power_on(b->chip);
	fb_bus_init(b->bus, b->chip, b->content, b->registers);
}

static void put_cycles(struct bench *b, struct input *input)
{
	u64 now_ns = 0;
	u32 step;

	for (step = 0; input->left && step < MAX_STEPS; step++) {
		u64 time = input_number(input, 1);
		bool exempt = may_set_bits(b->chip), torn;

		if (time == 255) {
			cut(b, now_ns, input_number(input, 1));
			check_changes(b, true, exempt);
			now_ns = 0;
		} else if (time & 1) {
			now_ns += time << 12;
		} else if (b->bus->ready_ns > now_ns) {
			now_ns = b->bus->ready_ns;
		}
		torn = put_cycle(b, input, now_ns);
		check_changes(b, torn, torn && exempt);
		if (step % VERIFY_EVERY == VERIFY_EVERY - 1) {
			CHECK(!fb_verify(b->chip));
			check_erased(b);
		}
	}
	CHECK(!fb_verify(b->chip));
	check_erased(b);
}

static void drive_bus(struct fb_medium *m, struct input *input)
{
	u64 bytes = fb_content_bytes(fb_medium_params(m));
	struct bench b = { m, new_memory(sizeof(*b.bus)), new_memory(bytes),
			   new_memory(fb_bus_register_bytes(fb_medium_params(m))), new_memory(bytes), new_memory(bytes),
			   0, 0 };

	memset(b.content, 0xff, bytes);
	memset(b.before, 0xff, bytes);
	memset(b.old, 0xff, bytes);
	fb_bus_init(b.bus, m, b.content, b.registers);
	put_cycles(&b, input);
	free(b.bus);
	free(b.registers);
	free(b.content);
	free(b.before);
	free(b.old);
}

/* --- by its operations --- */

static struct fb_chip_span any_span(struct input *input)
{
	return (struct fb_chip_span) { input_number(input, 1), input_number(input, 2), input_number(input, 2) };
}

static u64 operate(struct fb_medium *m, struct input *input, u64 now_ns)
{
	u64 kind = input_number(input, 1);
	struct fb_chip_span span = any_span(input);
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];
	u32 positions[64], count;

	switch (kind % 8) {
	case 0:
		return fb_chip_read(m, span.page, now_ns);
	case 1:
		return fb_chip_read_cached(m, kind & 0x80, now_ns);
	case 2:
		return fb_chip_program(m, &span, now_ns);
	case 3:
		return fb_chip_program_cached(m, &span, now_ns);
	case 4:
		return fb_chip_erase(m, span.page, now_ns);
	case 5:
		return fb_chip_queue(m, 1 + kind / 8 % 3, &span, now_ns);
	case 6:
		now_ns = fb_chip_reset(m, now_ns, torn, &count);
		CHECK(count <= FB_CHIP_MAX_TORN);
		return now_ns;
	}
	count = fb_chip_flips(m, span.page, positions, 64);
	CHECK(count <= 64);
	while (count)
		CHECK(positions[--count] < 8 * m->params.page_bytes);
	m->chip.breach = FB_CHIP_KEPT;
	return now_ns;
}

static void drive_chip(struct fb_medium *m, struct input *input)
{
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];
	u64 now_ns = 0;
	u32 step;

	for (step = 0; input->left && step < MAX_STEPS; step++) {
		u64 breaches = fb_chip_breaches(m), time = input_number(input, 1);
		u64 ready_ns = operate(m, input, now_ns);

		CHECK(ready_ns >= now_ns);
		CHECK((fb_chip_breach(m) == FB_CHIP_KEPT) == (fb_chip_breaches(m) == breaches));
		CHECK(ready_ns != FB_NEVER || fb_chip_breach(m) != FB_CHIP_KEPT);
		if (ready_ns != FB_NEVER)
			CHECK(fb_chip_status(m, fb_max(ready_ns, m->chip.ready_ns)).ready);
		now_ns = time & 1 || ready_ns == FB_NEVER ? now_ns + (time << 12) : ready_ns;
		if (time == 255) {
			CHECK(fb_chip_cut(m, now_ns, torn) <= FB_CHIP_MAX_TORN);
			fb_power_on(m);
			now_ns = 0;
		}
		if (step % VERIFY_EVERY == VERIFY_EVERY - 1)
			CHECK(!fb_verify(m));
	}
	CHECK(!fb_verify(m));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct fb_params params = any_params(&input);
	size_t bytes = fb_state_bytes(&params);
	struct fb_medium *m;
	void *memory;

	if (!bytes || fb_content_bytes(&params) > MAX_CONTENT_BYTES)
		return 0;
	memory = new_memory(bytes);
	CHECK(!fb_init(memory, bytes, &params) && !fb_open(memory, bytes, &m));
	if (input_number(&input, 1) & 1)
		drive_bus(m, &input);
	else
		drive_chip(m, &input);
	free(memory);
	return 0;
}
