/* SPDX-License-Identifier: GPL-2.0-only */
/* All that the core wants from its surroundings: in the kernel, or a program of the host. */
#ifndef Y2_PLATFORM_H
#define Y2_PLATFORM_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/types.h>

/* Below the page cache: memory must not be sought by writing pages back through us */
static inline void *y2_zalloc(size_t bytes)
{
	return kvzalloc(bytes, GFP_NOFS);
}

static inline void y2_free(const void *memory)
{
	kvfree(memory);
}

#define y2_warn(format, ...) pr_warn("yaffs2: " format "\n", ##__VA_ARGS__)
#define y2_divide(number, by) div_u64(number, by)

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../host/list.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

void *y2_zalloc(size_t bytes);
void y2_free(const void *memory);
void y2_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define y2_divide(number, by) ((u64)(number) / (u32)(by))

#endif

static inline u32 y2_get32(const u8 *from)
{
	return from[0] | (u32)from[1] << 8 | (u32)from[2] << 16 | (u32)from[3] << 24;
}

static inline void y2_put32(u8 *to, u32 value)
{
	to[0] = value;
	to[1] = value >> 8;
	to[2] = value >> 16;
	to[3] = value >> 24;
}

#endif
