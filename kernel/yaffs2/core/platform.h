/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core's interface to its environment: Linux's own headers in the kernel; on the host,
 * host_linux/ supplies the names that the core uses.
 */
#ifndef Y2_PLATFORM_H
#define Y2_PLATFORM_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Below the page cache: an allocation must not trigger write-back to this file system */
static inline void *y2_zalloc(size_t bytes)
{
	return kvzalloc(bytes, GFP_NOFS);
}

static inline void y2_free(const void *memory)
{
	kvfree(memory);
}

#define y2_warn(format, ...) pr_warn("yaffs2: " format "\n", ##__VA_ARGS__)

#else

#include "../../host_linux/linux.h"

void *y2_zalloc(size_t bytes);
void y2_free(const void *memory);
void y2_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

#endif
