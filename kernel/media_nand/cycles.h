/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first so many cycles on the chip's bus, and until when the chip was busy after each: an array of struct
 * cycle_entry in /sys/devices/platform/media_nand/cycles. Off unless insmod asks for it. Put to the same chip on the
 * host, they must make it busy for as long.
 */
#ifndef CYCLES_H
#define CYCLES_H

#include <linux/sysfs.h>
#include <linux/types.h>

enum cycle_kind { CYCLE_COMMAND, CYCLE_ADDRESS, CYCLE_WRITE, CYCLE_READ };

struct cycle_entry {
	u64 now_ns;
	u64 ready_ns;
	u32 kind;			/* enum cycle_kind */
	u32 value;			/* the byte of a command or an address; how many bytes were written or read */
};

struct cycle_log {
	struct cycle_entry *at;		/* NULL: off */
	u32 capacity;
	u32 count;
};

int cycle_log_start(struct cycle_log *log, unsigned int capacity);
void cycle_log_stop(struct cycle_log *log);
void cycle_log_add(struct cycle_log *log, struct cycle_entry entry);

extern const struct attribute_group cycle_group;

#endif
