// SPDX-License-Identifier: GPL-2.0-only
/* See request_log.h */
#include <linux/mm.h>
#include <linux/module.h>

#include "request_log.h"

int request_log_start(struct request_log *log, unsigned int capacity)
{
	log->capacity = capacity;
	if (!capacity)
		return 0;
	log->at = kvcalloc(capacity, sizeof(*log->at), GFP_KERNEL);
	return log->at ? 0 : -ENOMEM;
}

void request_log_stop(struct request_log *log)
{
	kvfree(log->at);
}

void request_log_add(struct request_log *log, const struct fb_request *request, u64 now_ns,
		     u64 done_ns)
{
	u32 count = READ_ONCE(log->count);

	if (count == log->capacity)
		return;
	log->at[count] = (struct request_log_entry) {
		.now_ns = now_ns,
		.done_ns = done_ns,
		.offset_bytes = request->offset_bytes,
		.length_bytes = request->length_bytes,
		.op = request->op,
		.fua = request->fua,
	};
	WRITE_ONCE(log->count, count + 1);
}

static ssize_t request_log_read(struct file *file, char __user *buffer, size_t count, loff_t *at)
{
	const struct request_log *log = file->private_data;

	return simple_read_from_buffer(buffer, count, at, log->at,
				       READ_ONCE(log->count) * sizeof(*log->at));
}

static ssize_t request_log_forget(struct file *file, const char __user *buffer, size_t count,
				  loff_t *at)
{
	struct request_log *log = file->private_data;

	WRITE_ONCE(log->count, 0);
	return count;
}

const struct file_operations request_log_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = request_log_read,
	.write = request_log_forget,
	.llseek = default_llseek,
};
