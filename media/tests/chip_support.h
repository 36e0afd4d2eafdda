/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the raw chip's tests share: operations on whole pages, with their spare area, and bits that are counted */
#ifndef CHIP_SUPPORT_H
#define CHIP_SUPPORT_H

#include "fb_chip.h"
#include "samples.h"
#include "test.h"

/* As fb_chip_program() and its kin, on all bytes of a page: when the chip is ready again */
u64 program_page(struct fb_medium *m, u32 page, u64 now_ns);
u64 program_page_cached(struct fb_medium *m, u32 page, u64 now_ns);
u64 queue_page(struct fb_medium *m, enum fb_chip_op op, u32 page, u64 now_ns);

/* As fb_chip_reset(), whatever it tears */
u64 reset_chip(struct fb_medium *m, u64 now_ns);

u32 ones_in(const u8 *content, u32 bytes);

#endif
