// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * bus_replay STATE LOG SAVED: puts the cycles that the emulator recorded (emulator/lab-medium-notes.h) to the same
 * chip here. Exit status 1, with the first cycle that differs, if the chip is not busy until the same moment after
 * each; SAVED gets the state that is left. The content is no part of it: how long an operation takes does not depend on
 * it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fb_chip_bus.h"
#include "message.h"
#include "state_file.h"

struct entry {
	uint64_t now_ns;
	uint64_t ready_ns;
	uint32_t kind;
	uint32_t value;
};

const char program_name[] = "bus_replay";

enum { COMMAND, ADDRESS, WRITE, READ };

enum { MAX_BYTES = 1 << 20 };

static void *memory(size_t bytes)
{
	void *at = calloc(bytes, 1);

	if (!at) {
		perror("bus_replay");
		exit(2);
	}
	return at;
}

static void carry_out(struct fb_chip_bus *bus, const struct entry *entry, uint8_t *bytes)
{
	switch (entry->kind) {
	case COMMAND:
		fb_bus_command(bus, (uint8_t)entry->value, entry->now_ns);
		break;
	case ADDRESS:
		fb_bus_address(bus, (uint8_t)entry->value, entry->now_ns);
		break;
	case WRITE:
		fb_bus_write(bus, bytes, entry->value);
		break;
	case READ:
		fb_bus_read(bus, bytes, entry->value, entry->now_ns);
		break;
	}
}

static int replay(struct fb_chip_bus *bus, FILE *log)
{
	uint8_t *bytes = memory(MAX_BYTES);
	uint64_t count = 0;
	struct entry entry;

	for (; fread(&entry, sizeof(entry), 1, log); count++) {
		if (entry.kind > READ || entry.value > MAX_BYTES) {
			fprintf(stderr, "bus_replay: cycle %" PRIu64 " is none\n", count);
			return 2;
		}
		carry_out(bus, &entry, bytes);
		if (bus->ready_ns == entry.ready_ns)
			continue;
		printf("cycle %" PRIu64 ", kind %" PRIu32 ", value %" PRIu32 ": ready at %" PRIu64 " here, "
		       "%" PRIu64 " there\n", count,
		       entry.kind, entry.value, bus->ready_ns, entry.ready_ns);
		return 1;
	}
	printf("%" PRIu64 " cycles\n", count);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	struct fb_medium *chip = argc == 4 ? state_file_open(argv[1]) : NULL;
	const struct fb_params *params = chip ? fb_medium_params(chip) : NULL;
	FILE *log = chip ? fopen(argv[2], "rb") : NULL;
	struct fb_chip_bus *bus;
	int status;

	if (!log) {
		fprintf(stderr, "bus_replay: usage: bus_replay STATE LOG SAVED\n");
		return 2;
	}
	bus = memory(sizeof(*bus));
	fb_bus_init(bus, chip, memory(fb_content_bytes(params)), memory(fb_bus_register_bytes(params)));
	status = replay(bus, log);
	if (!status && !state_file_save(argv[3], chip))
		status = 2;
	return status;
}
