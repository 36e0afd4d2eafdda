/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log of the first requests of a block device, with their completion times: an array of struct
 * request_log_entry in a debugfs file. Any write to the file clears it, so that a measurement can
 * begin with an empty log.
 *
 * Callers serialise additions, and clear the log only while no request is in flight.
 */
#ifndef REQUEST_LOG_H
#define REQUEST_LOG_H

#include <linux/fs.h>
#include <linux/types.h>

#include "fb_medium.h"

/**
 * struct request_log_entry - a request
 * @now_ns: when the device got it
 * @done_ns: when it was done
 * @offset_bytes: where it begins
 * @length_bytes: how long it is
 * @op: &enum fb_op
 * @fua: whether a write passes the cache
 */
struct request_log_entry {
	u64 now_ns;
	u64 done_ns;
	u64 offset_bytes;
	u64 length_bytes;
	u32 op;
	u32 fua;
};

/**
 * struct request_log - the recorded requests
 * @at: the requests; NULL: recording is off
 * @capacity: size of @at
 * @count: number of recorded requests
 */
struct request_log {
	struct request_log_entry *at;
	u32 capacity;
	u32 count;
};

/**
 * request_log_start() - create an empty log
 * @log: all zero
 * @capacity: number of requests to record; 0: recording is off
 *
 * Return: 0 or -ENOMEM
 */
int request_log_start(struct request_log *log, unsigned int capacity);

/**
 * request_log_stop() - free a log
 * @log: the log
 */
void request_log_stop(struct request_log *log);

/**
 * request_log_add() - record a request, if there is room
 * @log: the log
 * @request: the request
 * @now_ns: arrival time
 * @done_ns: completion time
 */
void request_log_add(struct request_log *log, const struct fb_request *request, u64 now_ns,
		     u64 done_ns);

/* For a file whose data is a log */
extern const struct file_operations request_log_fops;

#endif
