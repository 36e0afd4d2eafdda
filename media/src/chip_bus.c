// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The bus of a raw NAND chip: turns command, address and data cycles into operations of the chip and changes of its
 * content. chip_before.c keeps the old content that a cut needs.
 */
#include "chip_before.h"
#include "fb_chip_bus.h"

enum {
	READ_1 = 0x00, READ_HALF = 0x01, READ_SPARE = 0x50, READ_GO = 0x30, READ_PLANE = 0x32, READ_COPY = 0x35,
	READ_CACHED = 0x31, READ_CACHED_END = 0x3f, COLUMN = 0x05, PLANE_COLUMN = 0x06, COLUMN_GO = 0xe0,
	LOAD = 0x80, LOAD_COLUMN = 0x85, PROGRAM_GO = 0x10, PROGRAM_PLANE = 0x11, PROGRAM_CACHED = 0x15,
	ERASE = 0x60, ERASE_GO = 0xd0, ERASE_PLANE = 0xd1,
	STATUS = 0x70, STATUS_OF = 0x78, ID = 0x90, ONFI = 0xec, RESET = 0xff,
	NONE = 0x100,
};

enum {
	STATUS_FAILED = 1, STATUS_FAILED_BEFORE = 2,
	STATUS_ARRAY_READY = 0x20, STATUS_READY = 0x40, STATUS_WRITABLE = 0x80,
};

static const struct fb_params *params_of(const struct fb_chip_bus *bus)
{
	return fb_medium_params(bus->chip);
}

static bool small_page(const struct fb_chip_bus *bus)
{
	return params_of(bus)->page_bytes == 512;
}

static u8 *register_of(const struct fb_chip_bus *bus, u32 page)
{
	const struct fb_params *p = params_of(bus);

	return bus->registers + fb_bus_plane(bus, page) * fb_raw_page_bytes(p);
}

static u8 *content_of(const struct fb_chip_bus *bus, u32 page)
{
	return bus->content + page * fb_raw_page_bytes(params_of(bus));
}

void fb_bus_init(struct fb_chip_bus *bus, struct fb_medium *chip, u8 *content, u8 *registers)
{
	*bus = (struct fb_chip_bus) { .chip = chip, .content = content, .registers = registers, .command = NONE };
}

/* --- addresses --- */

static u32 column_cycles(const struct fb_chip_bus *bus)
{
	return small_page(bus) ? 1 : 2;
}

static u32 row_cycles(const struct fb_chip_bus *bus)
{
	return fb_chip_pages(params_of(bus)) > 65536 ? 3 : 2;
}

static u32 number(const u8 *bytes, u32 count)
{
	u32 value = 0;

	while (count--)
		value = value << 8 | bytes[count];
	return value;
}

/* A 16-bit bus counts columns in words */
static u32 column_of(const struct fb_chip_bus *bus)
{
	return bus->area + number(bus->address, column_cycles(bus)) * (u32)(params_of(bus)->bus_bits / 8);
}

static u32 row_of(const struct fb_chip_bus *bus, u32 skipped)
{
	return bus->cycles > skipped ? number(bus->address + skipped, bus->cycles - skipped) : 0;
}

/* --- reading --- */

/* Fills the register with the page's content, including its wrong bits */
static void sense(struct fb_chip_bus *bus, u32 page)
{
	u8 *reg = register_of(bus, page);
	u32 count, i;

	__builtin_memcpy(reg, content_of(bus, page), fb_raw_page_bytes(params_of(bus)));
	count = fb_chip_flips(bus->chip, page, bus->flips, FB_BUS_MAX_FLIPS);
	for (i = 0; i < count; i++)
		reg[bus->flips[i] / 8] ^= 1 << bus->flips[i] % 8;
}

static void output_page(struct fb_chip_bus *bus, u32 page, u32 column)
{
	bus->output = FB_BUS_OF_PAGE;
	bus->out_page = page;
	bus->at = column;
}

static void read_page(struct fb_chip_bus *bus, u64 now_ns)
{
	u32 page = row_of(bus, column_cycles(bus)), i;
	bool spare = column_of(bus) >= params_of(bus)->page_bytes;
	u64 ready_ns = spare ? fb_chip_read_spare(bus->chip, page, now_ns) : fb_chip_read(bus->chip, page, now_ns);

	if (ready_ns != FB_NEVER) {
		bus->ready_ns = ready_ns;
		sense(bus, page);
		for (i = 0; i < bus->queued; i++)
			sense(bus, bus->queued_page[i]);
		bus->read_page = page;
		output_page(bus, page, column_of(bus));
	}
	bus->queued = 0;
	if (bus->area == 256)	/* 01h holds for one operation */
		bus->area = 0;
}

/* Covers only the planes that were read last; the register's content moves to the cache register */
static void read_cached(struct fb_chip_bus *bus, bool last, u64 now_ns)
{
	u64 ready_ns = fb_chip_read_cached(bus->chip, last, now_ns);

	if (ready_ns == FB_NEVER) {
		bus->queued = 0;
		return;
	}
	bus->ready_ns = ready_ns;
	sense(bus, bus->read_page);
	output_page(bus, bus->read_page, 0);
	if (!last)
		bus->read_page++;
}

static u8 status(const struct fb_chip_bus *bus, u64 now_ns)
{
	struct fb_chip_status s = fb_chip_status(bus->chip, now_ns);

	return STATUS_WRITABLE | (s.ready ? STATUS_READY : 0) | (s.array_ready ? STATUS_ARRAY_READY : 0) |
	       (s.failed ? STATUS_FAILED : 0) | (s.failed_before ? STATUS_FAILED_BEFORE : 0);
}

static u8 id_byte(const struct fb_chip_bus *bus, u32 at)
{
	static const u8 onfi[4] = { 'O', 'N', 'F', 'I' };
	const struct fb_params *p = params_of(bus);

	if (bus->address[0] == 0x20)
		return p->onfi && at < sizeof(onfi) ? onfi[at] : 0;
	if (at < 2)
		return at ? p->device_id : p->manufacturer_id;
	return at < 8 ? p->id_extension >> 8 * (at - 2) : 0;
}

static void read_onfi(struct fb_chip_bus *bus, u8 *bytes, u32 count)
{
	u8 page[FB_ONFI_PAGE_BYTES];
	u32 i;

	fb_onfi_page(params_of(bus), page);
	for (i = 0; i < count; i++, bus->at++)
		bytes[i] = bus->at < FB_ONFI_COPIES * FB_ONFI_PAGE_BYTES ? page[bus->at % FB_ONFI_PAGE_BYTES] : 0xff;
}

static void read_register(struct fb_chip_bus *bus, u8 *bytes, u32 count)
{
	u32 end = fb_raw_page_bytes(params_of(bus));
	u32 there = bus->at < end ? end - bus->at : 0;

	if (there > count)
		there = count;
	__builtin_memcpy(bytes, register_of(bus, bus->out_page) + bus->at, there);
	__builtin_memset(bytes + there, 0xff, count - there);
	bus->at += there;
}

void fb_bus_read(struct fb_chip_bus *bus, u8 *bytes, u32 count, u64 now_ns)
{
	u32 i;

	if (bus->output == FB_BUS_OF_PAGE)
		read_register(bus, bytes, count);
	else if (bus->output == FB_BUS_OF_ONFI)
		read_onfi(bus, bytes, count);
	else
		for (i = 0; i < count; i++)
			bytes[i] = bus->output == FB_BUS_OF_STATUS ? status(bus, now_ns) : id_byte(bus, bus->at++);
}

/* --- programming and erasing --- */

static void begin_load(struct fb_chip_bus *bus, bool clear)
{
	bus->loading = (struct fb_chip_span) { row_of(bus, column_cycles(bus)), column_of(bus), 0 };
	bus->at = bus->loading.column;
	if (clear)
		__builtin_memset(register_of(bus, bus->loading.page), 0xff, fb_raw_page_bytes(params_of(bus)));
	else	/* copy-back: programs the whole page that was read */
		bus->loading = (struct fb_chip_span) { bus->loading.page, 0, fb_raw_page_bytes(params_of(bus)) };
}

void fb_bus_write(struct fb_chip_bus *bus, const u8 *bytes, u32 count)
{
	struct fb_chip_span *loading = &bus->loading;
	u32 end = fb_raw_page_bytes(params_of(bus));

	if ((bus->command != LOAD && bus->command != LOAD_COLUMN) || bus->at >= end)
		return;
	if (count > end - bus->at)
		count = end - bus->at;
	__builtin_memcpy(register_of(bus, loading->page) + bus->at, bytes, count);
	if (!loading->bytes) {
		loading->column = bus->at;
	} else if (bus->at < loading->column) {
		loading->bytes += loading->column - bus->at;
		loading->column = bus->at;
	}
	bus->at += count;
	if (bus->at > loading->column + loading->bytes)
		loading->bytes = bus->at - loading->column;
}

/* Eight bytes at a time */
static void clear_bits(struct fb_chip_bus *bus, u32 page)
{
	const u8 *reg = register_of(bus, page);
	u8 *content = content_of(bus, page), *before = fb_bus_take_before(bus, page);
	u32 bytes = fb_raw_page_bytes(params_of(bus)), i = 0;

	for (; i + sizeof(u64) <= bytes; i += sizeof(u64)) {
		u64 kept, loaded;

		__builtin_memcpy(&kept, content + i, sizeof(kept));
		__builtin_memcpy(&loaded, reg + i, sizeof(loaded));
		__builtin_memcpy(before + i, &kept, sizeof(kept));
		kept &= loaded;
		__builtin_memcpy(content + i, &kept, sizeof(kept));
	}
	for (; i < bytes; i++) {
		before[i] = content[i];
		content[i] &= reg[i];
	}
}

static void program(struct fb_chip_bus *bus, bool cached, u64 now_ns)
{
	u64 ready_ns = cached ? fb_chip_program_cached(bus->chip, &bus->loading, now_ns) :
				fb_chip_program(bus->chip, &bus->loading, now_ns);
	u32 i;

	if (ready_ns != FB_NEVER) {
		bus->ready_ns = ready_ns;
		clear_bits(bus, bus->loading.page);
		for (i = 0; i < bus->queued; i++)
			clear_bits(bus, bus->queued_page[i]);
	}
	bus->queued = 0;
	if (bus->area == 256)
		bus->area = 0;
}

static void fill_block(struct fb_chip_bus *bus, u32 page)
{
	u64 pages = params_of(bus)->pages_per_block, bytes = pages * fb_raw_page_bytes(params_of(bus));

	page -= page % (u32)pages;
	__builtin_memcpy(fb_bus_erased(bus, page), content_of(bus, page), bytes);
	__builtin_memset(content_of(bus, page), 0xff, bytes);
}

static void erase(struct fb_chip_bus *bus, u64 now_ns)
{
	u32 page = row_of(bus, 0), i;
	u64 ready_ns = fb_chip_erase(bus->chip, page / (u32)params_of(bus)->pages_per_block, now_ns);

	if (ready_ns != FB_NEVER) {
		bus->ready_ns = ready_ns;
		fill_block(bus, page);
		for (i = 0; i < bus->queued; i++)
			fill_block(bus, bus->queued_page[i]);
	}
	bus->queued = 0;
}

static void queue(struct fb_chip_bus *bus, enum fb_chip_op op, const struct fb_chip_span *span, u64 now_ns)
{
	u64 ready_ns = fb_chip_queue(bus->chip, op, span, now_ns);

	if (ready_ns == FB_NEVER) {
		bus->queued = 0;
		return;
	}
	bus->ready_ns = ready_ns;
	bus->queued_page[bus->queued++] = span->page;
}

static void queue_row(struct fb_chip_bus *bus, enum fb_chip_op op, u32 skipped, u64 now_ns)
{
	struct fb_chip_span span = { row_of(bus, skipped), 0, 0 };

	queue(bus, op, &span, now_ns);
}

/* --- torn --- */

static void tear(struct fb_chip_bus *bus, const struct fb_chip_torn *torn, u64 seed)
{
	const struct fb_params *p = params_of(bus);
	u32 page = torn->span.page, end = page + 1;

	if (torn->op == FB_CHIP_ERASE) {
		page -= page % (u32)p->pages_per_block;
		end = page + p->pages_per_block;
	}
	for (; page < end; page++) {
		if (torn->op == FB_CHIP_ERASE)
			__builtin_memcpy(content_of(bus, page), fb_bus_erased(bus, page), fb_raw_page_bytes(p));
		fb_chip_tear(p, torn, page, seed, fb_bus_before(bus, page), content_of(bus, page));
	}
}

/* The chip counts a cut only if the power fails; a reset leaves it on */
static void tear_all(struct fb_chip_bus *bus, const struct fb_chip_torn *torn, u32 count, u64 seed)
{
	u32 i;

	for (i = 0; i < count; i++)
		tear(bus, &torn[i], seed);
}

void fb_bus_cut(struct fb_chip_bus *bus, u64 cut_ns, u64 seed)
{
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];

	tear_all(bus, torn, fb_chip_cut(bus->chip, cut_ns, torn), seed);
}

static void reset(struct fb_chip_bus *bus, u64 now_ns)
{
	struct fb_chip_torn torn[FB_CHIP_MAX_TORN];
	u32 count;

	bus->ready_ns = fb_chip_reset(bus->chip, now_ns, torn, &count);
	tear_all(bus, torn, count, params_of(bus)->seed);
	bus->queued = 0;
	bus->area = 0;
}

/* --- commands --- */

static bool takes_addresses(u32 command)
{
	switch (command) {
	case READ_1: case READ_HALF: case READ_SPARE: case COLUMN: case PLANE_COLUMN: case LOAD: case LOAD_COLUMN:
	case ERASE: case STATUS_OF: case ID: case ONFI:
		return true;
	}
	return false;
}

/* Small pages: the pointer stays as set, except after 01h */
static void point(struct fb_chip_bus *bus, u8 command)
{
	if (!small_page(bus))
		bus->area = 0;
	else if (command == READ_SPARE)
		bus->area = 512;
	else if (command == READ_1 || command == READ_HALF)
		bus->area = command == READ_HALF ? 256 : 0;
}

/* A confirming command: carries out what the first command prepared */
static void go(struct fb_chip_bus *bus, u8 command, u64 now_ns)
{
	bool loaded = bus->command == LOAD || bus->command == LOAD_COLUMN;

	switch (command) {
	case READ_GO: case READ_COPY:
		if (bus->command == READ_1 && bus->cycles)
			read_page(bus, now_ns);
		break;
	case READ_PLANE:
		if (bus->command == READ_1 && bus->cycles)
			queue_row(bus, FB_CHIP_READ, column_cycles(bus), now_ns);
		break;
	case READ_CACHED: case READ_CACHED_END:
		read_cached(bus, command == READ_CACHED_END, now_ns);
		break;
	case COLUMN_GO:
		output_page(bus, bus->command == PLANE_COLUMN ? row_of(bus, 2) : bus->out_page, column_of(bus));
		break;
	case PROGRAM_GO: case PROGRAM_CACHED:
		if (loaded)
			program(bus, command == PROGRAM_CACHED, now_ns);
		break;
	case PROGRAM_PLANE:
		if (loaded)
			queue(bus, FB_CHIP_PROGRAM, &bus->loading, now_ns);
		break;
	case ERASE_GO:
		if (bus->command == ERASE && bus->cycles)
			erase(bus, now_ns);
		break;
	case ERASE_PLANE:
		if (bus->command == ERASE && bus->cycles)
			queue_row(bus, FB_CHIP_ERASE, 0, now_ns);
		break;
	case STATUS:
		bus->output = FB_BUS_OF_STATUS;
		break;
	case RESET:
		reset(bus, now_ns);
		break;
	}
}

void fb_bus_command(struct fb_chip_bus *bus, u8 command, u64 now_ns)
{
	bool loading = bus->command == LOAD || bus->command == LOAD_COLUMN;

	if (!takes_addresses(command)) {
		go(bus, command, now_ns);
		bus->command = NONE;
		return;
	}
	if (command == READ_1 && !small_page(bus))	/* after a status, data again */
		bus->output = FB_BUS_OF_PAGE;
	if (command == READ_1 || command == READ_HALF || command == READ_SPARE)
		point(bus, command);
	/* 85h changes the column of the data being loaded; otherwise it begins a copy-back */
	bus->command = command == LOAD_COLUMN && !loading ? LOAD_COLUMN | NONE : command;
	bus->cycles = 0;
}

static void address_is_complete(struct fb_chip_bus *bus, u64 now_ns)
{
	u32 page_cycles = column_cycles(bus) + row_cycles(bus);

	switch (bus->command) {
	case READ_1: case READ_HALF: case READ_SPARE:
		if (small_page(bus) && bus->cycles == page_cycles)
			read_page(bus, now_ns);
		break;
	case LOAD: case LOAD_COLUMN | NONE:
		if (bus->cycles != page_cycles)
			break;
		begin_load(bus, bus->command == LOAD);
		bus->command = LOAD;
		break;
	case LOAD_COLUMN:
		if (bus->cycles == column_cycles(bus))
			bus->at = column_of(bus);
		break;
	case STATUS_OF:
		bus->output = FB_BUS_OF_STATUS;
		break;
	case ID:
		bus->output = FB_BUS_OF_ID;
		bus->at = 0;
		break;
	case ONFI:
		if (!params_of(bus)->onfi)
			break;
		bus->output = FB_BUS_OF_ONFI;
		bus->at = 0;
		bus->ready_ns = now_ns + params_of(bus)->read_ns;
		break;
	}
}

void fb_bus_address(struct fb_chip_bus *bus, u8 address, u64 now_ns)
{
	if (bus->cycles == FB_BUS_MAX_CYCLES)
		return;
	bus->address[bus->cycles++] = address;
	address_is_complete(bus, now_ns);
}
