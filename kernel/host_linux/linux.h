/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions and macros of Linux's headers that the cores of modules use, for the host. Each behaves as the kernel's.
 * Lists are in list.h, trees in rbtree.h.
 */
#ifndef HOST_LINUX_H
#define HOST_LINUX_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "list.h"
#include "rbtree.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

/* minmax.h, math.h, math64.h */
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define min(a, b) min_t(__typeof__(a), a, b)
#define max(a, b) max_t(__typeof__(a), a, b)
#define clamp_t(type, value, lowest, highest) min_t(type, max_t(type, value, lowest), highest)
#define DIV_ROUND_UP_ULL(number, by) (((u64)(number) + (by) - 1) / (by))

static inline u64 div_u64(u64 number, u32 by)
{
	return number / by;
}

static inline u64 div64_u64(u64 number, u64 by)
{
	return number / by;
}

/* bitops.h, bitmap.h */
#define BITS_PER_LONG		(8 * sizeof(unsigned long))
#define BITS_TO_LONGS(bits)	(((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define hweight8(byte)		((unsigned int)__builtin_popcount((u8)(byte)))
#define hweight32(word)		((unsigned int)__builtin_popcount(word))
#define hweight64(word)		((unsigned int)__builtin_popcountll(word))

static inline bool test_bit(unsigned long bit, const unsigned long *bits)
{
	return bits[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
}

static inline bool __test_and_set_bit(unsigned long bit, unsigned long *bits)
{
	bool was = test_bit(bit, bits);

	bits[bit / BITS_PER_LONG] |= 1ul << bit % BITS_PER_LONG;
	return was;
}

static inline bool __test_and_clear_bit(unsigned long bit, unsigned long *bits)
{
	bool was = test_bit(bit, bits);

	bits[bit / BITS_PER_LONG] &= ~(1ul << bit % BITS_PER_LONG);
	return was;
}

/* unaligned.h */
static inline u32 get_unaligned_le32(const void *from)
{
	const u8 *byte = from;

	return byte[0] | (u32)byte[1] << 8 | (u32)byte[2] << 16 | (u32)byte[3] << 24;
}

static inline u32 get_unaligned_be32(const void *from)
{
	return __builtin_bswap32(get_unaligned_le32(from));
}

static inline void put_unaligned_le32(u32 value, void *to)
{
	u8 *byte = to;

	for (u32 i = 0; i < 4; i++)
		byte[i] = (u8)(value >> 8 * i);
}

/* string.h */
static inline const void *memchr_inv(const void *from, int value, size_t bytes)
{
	const u8 *byte = from;

	while (bytes && *byte == (u8)value) {
		byte++;
		bytes--;
	}
	return bytes ? byte : NULL;
}

/* sort.h; without `swap`, as the cores call it */
static inline void sort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *), void *swap)
{
	(void)swap;
	qsort(base, count, size, compare);
}

/* crc32.h: reflected, polynomial 0xedb88320, without inversions; in yaffs2/host/platform.c */
u32 crc32_le(u32 crc, const u8 *bytes, size_t count);

#endif
