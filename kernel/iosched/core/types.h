/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The integer types and the few helpers of the scheduler cores, in the kernel and on the host.
 * The only header of the cores that knows where it is compiled.
 */
#ifndef IOSCHED_TYPES_H
#define IOSCHED_TYPES_H

#ifdef __KERNEL__
#include <linux/container_of.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}
#endif

#define IOS_NSEC_PER_USEC	1000ULL
#define IOS_NSEC_PER_MSEC	1000000ULL

/* "Never", as a time; wake times and deadlines are compared with it */
#define IOS_NEVER		(~0ULL)

#endif
