/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first so many requests that a block device got, and when it had done them: an array of struct
 * request_log_entry in a file of debugfs. Writing anything to the file forgets what is in it, so
 * that a measurement can begin with an empty one.
 *
 * Whoever adds entries sees to it that no two do so at a time; whoever forgets them, that no
 * request is under way.
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
 * struct request_log - what was recorded
 * @at: the requests; NULL: none are recorded
 * @capacity: how many there is room for
 * @count: how many there are
 */
struct request_log {
	struct request_log_entry *at;
	u32 capacity;
	u32 count;
};

/**
 * request_log_start() - makes an empty log
 * @log: all zero
 * @capacity: how many requests it is to hold; 0: none are recorded
 *
 * Return: 0 or -ENOMEM
 */
int request_log_start(struct request_log *log, unsigned int capacity);

/**
 * request_log_stop() - frees a log
 * @log: the log
 */
void request_log_stop(struct request_log *log);

/**
 * request_log_add() - adds a request, if there is room
 * @log: the log
 * @request: the request
 * @now_ns: when the device got it
 * @done_ns: when it was done
 */
void request_log_add(struct request_log *log, const struct fb_request *request, u64 now_ns,
		     u64 done_ns);

/* Of a file whose data is a log */
extern const struct file_operations request_log_fops;

#endif
