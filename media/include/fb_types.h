/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The integer types of the media core, by the kernel's names, in the kernel and on the host. No other header of the
 * core depends on where it is compiled.
 */
#ifndef FB_TYPES_H
#define FB_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

#endif
