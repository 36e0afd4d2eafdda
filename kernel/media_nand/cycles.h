/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first so many cycles on the chip's bus, and until when the chip was busy after each: an array
 * of struct cycle_entry in the file cycles of debugfs. Off unless a module parameter asks for it.
 * Put to the same chip on the host, they must make it busy for as long.
 */
#ifndef CYCLES_H
#define CYCLES_H

#include <linux/device.h>
#include <linux/types.h>

enum cycle_kind { CYCLE_COMMAND, CYCLE_ADDRESS, CYCLE_WRITE, CYCLE_READ };

/**
 * struct cycle_entry - a cycle, or a row of equal ones
 * @now_ns: when it was over
 * @ready_ns: until when the chip was busy then
 * @kind: &enum cycle_kind
 * @value: the byte of a command or an address; how many bytes were written or read
 */
struct cycle_entry {
	u64 now_ns;
	u64 ready_ns;
	u32 kind;
	u32 value;
};

/**
 * struct cycle_log - what was recorded
 * @at: the cycles; NULL: none are recorded
 * @capacity: how many there is room for
 * @count: how many there are
 */
struct cycle_log {
	struct cycle_entry *at;
	u32 capacity;
	u32 count;
};

/**
 * cycle_log_init() - makes an empty log, which goes with the device
 * @dev: the device
 * @log: all zero
 * @capacity: how many cycles it is to hold; 0: none are recorded
 *
 * Return: 0 or -ENOMEM
 */
int cycle_log_init(struct device *dev, struct cycle_log *log, unsigned int capacity);

/**
 * cycle_log_add() - adds a cycle, if there is room
 * @log: the log
 * @entry: the cycle
 */
void cycle_log_add(struct cycle_log *log, struct cycle_entry entry);

#endif
