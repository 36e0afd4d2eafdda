/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A raw NAND chip (kind nand): one die without a controller, as a driver sees it. The core says when the chip is ready,
 * which operations failed, which bits read wrong and which rules were broken. The caller keeps the content, drives the
 * bus and models the bus time (bus_ps_per_byte is the chip's own cycle). Times here are those of the array.
 *
 * A page is page_bytes of data followed by spare_bytes. Page numbers count through the blocks. A column is a byte of
 * the page or its spare area. The content is stored in the file beside the state: all pages in order, each with its
 * spare area. Erased bytes are 0xff. A program can only clear bits: the caller ANDs the new data into the content.
 *
 * The chip is ready (R/B# high) when its register is free, even if the array still works on cached data. An operation
 * issued earlier waits until then, and breaks a rule.
 *
 *	read			ready after tR
 *	read cached (31h, 3Fh)	the page in the data register goes on to the cache register when it has been sensed;
 *				ready after cache_busy_ns. 31h then senses the page that follows while the caller
 *				transfers this one.
 *	program			ready after tPROG
 *	program cached (15h)	the page goes on when the array has done with the one before; ready after cache_busy_ns
 *	erase			ready after tBERS
 *	several planes		each page but the last is queued, which takes plane_busy_ns; the array works on all at
 *				once. They are pages of one number in blocks of different planes; block b is in plane
 *				b % planes.
 *	reset			ready after reset_ns; what was under way is torn
 *
 * Copy-back is a read and a program of another page of the same plane: the data stay in the chip's register.
 *
 * A failed program or erase leaves the block bad: every later program or erase of it fails too. A page whose program
 * failed holds what was written, with wrong bits like any other page.
 *
 * Simplifications: tR, tPROG and tBERS are constant; lower, middle and upper pages that share cells alternate (nand.h);
 * there is no read retry; bits of the spare area are never wrong.
 */
#ifndef FB_CHIP_H
#define FB_CHIP_H

#include "fb_medium.h"

#define FB_CHIP_PLANES 8u

/* The rule that an operation broke */
enum fb_chip_breach {
	FB_CHIP_KEPT,		/* none */
	FB_CHIP_BUSY,		/* issued before the chip was ready; waits */
	FB_CHIP_OUT_OF_RANGE,	/* no such block, page or column; not carried out */
	FB_CHIP_NOT_OFFERED,	/* a cache operation that the chip lacks, or on an empty register; not carried out */
	FB_CHIP_NOT_TOGETHER,	/* planes that cannot work together; not carried out */
	FB_CHIP_TOO_OFTEN,	/* more programs of a page than partial_programs; carried out */
	FB_CHIP_OUT_OF_ORDER,	/* with in_order_pages: a page before one that is programmed already; carried out */
};

enum fb_chip_op { FB_CHIP_NONE, FB_CHIP_READ, FB_CHIP_PROGRAM, FB_CHIP_ERASE };

/* Where a program puts its data */
struct fb_chip_span {
	u32 page;
	u32 column;
	u32 bytes;
};

/* Each returns the time at which the chip is ready again, or FB_NEVER if the operation was not carried out */
u64 fb_chip_read(struct fb_medium *chip, u32 page, u64 now_ns);
u64 fb_chip_read_spare(struct fb_medium *chip, u32 page, u64 now_ns);
u64 fb_chip_read_cached(struct fb_medium *chip, bool last, u64 now_ns);
u64 fb_chip_program(struct fb_medium *chip, const struct fb_chip_span *span, u64 now_ns);
u64 fb_chip_program_cached(struct fb_medium *chip, const struct fb_chip_span *span, u64 now_ns);
u64 fb_chip_erase(struct fb_medium *chip, u32 block, u64 now_ns);

/*
 * Queues one plane of a multi-plane operation. The functions above issue the last plane. For a read or a program, the
 * span names the page; for an erase, any page of the block.
 */
u64 fb_chip_queue(struct fb_medium *chip, enum fb_chip_op op, const struct fb_chip_span *span, u64 now_ns);

/* The rule that the last operation broke, and how often any rule was broken since the medium was made */
enum fb_chip_breach fb_chip_breach(const struct fb_medium *chip);
u64 fb_chip_breaches(const struct fb_medium *chip);

/* The array's part of the status register */
struct fb_chip_status {
	bool ready;		/* I/O 6 */
	bool array_ready;	/* I/O 5: nothing cached is under way either */
	bool failed;		/* I/O 0: the last program or erase */
	bool failed_before;	/* I/O 1: the cached program before it */
};

struct fb_chip_status fb_chip_status(const struct fb_medium *chip, u64 now_ns);

/* True if the block is marked bad from the factory: 0x00 at fb_bad_mark_column() of its first page's spare area */
bool fb_chip_bad_from_factory(const struct fb_medium *chip, u32 block);
u32 fb_chip_bad_mark_column(const struct fb_params *params);

/*
 * Returns the number of bits of the page's data that read wrong now, and stores at most `max` positions (8 * column +
 * bit), each once. The set is stable until the block is erased; age, wear and reads only add to it. The bits are
 * counted.
 */
u32 fb_chip_flips(struct fb_medium *chip, u32 page, u32 *positions, u32 max);

/* An operation that was under way when the power failed or a reset came */
struct fb_chip_torn {
	u32 op;			/* enum fb_chip_op; FB_CHIP_READ: nobody wrote here, it shares cells with a torn page */
	u32 done;		/* of 1024; a cached program can have none */
	struct fb_chip_span span;	/* of an erase: all pages of a block are torn */
};

#define FB_CHIP_MAX_TORN (4 * FB_CHIP_PLANES)

/*
 * Cuts the power at cut_ns and returns the number of torn spans. A block whose erase was torn must be erased again. The
 * next call must be fb_power_on().
 */
u32 fb_chip_cut(struct fb_medium *chip, u64 cut_ns, struct fb_chip_torn *torn);

/* Resets the chip, which tears what was under way; returns the time at which it is ready, after reset_ns */
u64 fb_chip_reset(struct fb_medium *chip, u64 now_ns, struct fb_chip_torn *torn, u32 *count);

/*
 * Turns a page's content (page_bytes + spare_bytes) into what is left of it after a tear. For a program, the content is
 * what the finished program would have left, and `before` is the page's content before the program. For an erase, the
 * content is what the page held before, and `before` is not read. Each bit that a program clears, or an erase sets,
 * changes or does not; no other bit changes. The cells of a torn neighbour hold noise. The seed decides.
 */
void fb_chip_tear(const struct fb_params *params, const struct fb_chip_torn *torn, u32 page, u64 seed,
		  const u8 *before, u8 *content);

#endif
