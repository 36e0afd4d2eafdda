/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A raw NAND chip (kind nand): one die without a controller, as a driver sees it. The core says when the chip is ready,
 * what failed, which bits read wrong and which rules were broken; the caller keeps the bytes, drives the bus, and lets
 * the bus take its time (bus_ps_per_byte is the chip's own cycle). Times are those of the array.
 *
 * A page is page_bytes of data and spare_bytes behind them; pages are counted through the blocks; a column is a byte of
 * the page and its spare area. The content, in the file beside the state, is page after page, each with its spare area;
 * erased is 0xff. A program can only clear bits: the caller ANDs what he programs into the content.
 *
 * The chip is ready (R/B# high) when its register is free, also while the array still works on what was cached. An
 * operation that comes before waits for that, and breaks a rule.
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
 * A program or erase that fails leaves the block bad: whatever is done to it afterwards fails too. The content of a
 * page whose program failed is what was written, and wrong as that of any other page.
 *
 * Simplifications: tR, tPROG and tBERS are constant; of a page that shares cells, the lower, middle and upper follow
 * each other in turn (nand.h); no read retry; bits of the spare area are never wrong.
 */
#ifndef FB_CHIP_H
#define FB_CHIP_H

#include "fb_medium.h"

#define FB_CHIP_PLANES 8u

/* The rule that an operation broke */
enum fb_chip_breach {
	FB_CHIP_KEPT,		/* none */
	FB_CHIP_BUSY,		/* came before the chip was ready; waits */
	FB_CHIP_OUT_OF_RANGE,	/* no such block, page or column; not carried out */
	FB_CHIP_NOT_OFFERED,	/* a cache operation on a chip without, or on an empty register; not carried out */
	FB_CHIP_NOT_TOGETHER,	/* planes that cannot work together; not carried out */
	FB_CHIP_TOO_OFTEN,	/* a page programmed more often than partial_programs; carried out */
	FB_CHIP_OUT_OF_ORDER,	/* a page before one that is programmed already, with in_order_pages; carried out */
};

enum fb_chip_op { FB_CHIP_NONE, FB_CHIP_READ, FB_CHIP_PROGRAM, FB_CHIP_ERASE };

/* What a program puts where */
struct fb_chip_span {
	u32 page;
	u32 column;
	u32 bytes;
};

/* Each returns when the chip is ready again, or FB_NEVER if the operation was not carried out */
u64 fb_chip_read(struct fb_medium *chip, u32 page, u64 now_ns);
u64 fb_chip_read_spare(struct fb_medium *chip, u32 page, u64 now_ns);
u64 fb_chip_read_cached(struct fb_medium *chip, bool last, u64 now_ns);
u64 fb_chip_program(struct fb_medium *chip, const struct fb_chip_span *span, u64 now_ns);
u64 fb_chip_program_cached(struct fb_medium *chip, const struct fb_chip_span *span, u64 now_ns);
u64 fb_chip_erase(struct fb_medium *chip, u32 block, u64 now_ns);

/*
 * One plane of an operation on several, of which the last is told by one of the above. A span's page for a read or a
 * program; for an erase, any page of the block.
 */
u64 fb_chip_queue(struct fb_medium *chip, enum fb_chip_op op, const struct fb_chip_span *span, u64 now_ns);

/* Of the operation told last, and how often any rule was broken since the medium was made */
enum fb_chip_breach fb_chip_breach(const struct fb_medium *chip);
u64 fb_chip_breaches(const struct fb_medium *chip);

/* The status register, as far as the array is concerned */
struct fb_chip_status {
	bool ready;		/* I/O 6 */
	bool array_ready;	/* I/O 5: also nothing cached is under way */
	bool failed;		/* I/O 0: the program or erase told last */
	bool failed_before;	/* I/O 1: the cached program before that */
};

struct fb_chip_status fb_chip_status(const struct fb_medium *chip, u64 now_ns);

/* Shipped with a mark: 0x00 where fb_bad_mark_column() says, in the spare area of the block's first page */
bool fb_chip_bad_from_factory(const struct fb_medium *chip, u32 block);
u32 fb_chip_bad_mark_column(const struct fb_params *params);

/*
 * Bits of the page's data that read wrong now (8 * column + bit), each once, at most `max` of them; returns how many.
 * The same until the block is erased, but for those that age, wear and reads add. They are counted.
 */
u32 fb_chip_flips(struct fb_medium *chip, u32 page, u32 *positions, u32 max);

/* What was under way when the power went or a reset came */
struct fb_chip_torn {
	u32 op;			/* enum fb_chip_op; FB_CHIP_READ: nobody wrote here, it shares cells with a torn page */
	u32 done;		/* of 1024; a cached program can have none */
	struct fb_chip_span span;	/* of an erase, all pages of a block are torn */
};

#define FB_CHIP_MAX_TORN (4 * FB_CHIP_PLANES)

/*
 * The power goes at cut_ns: returns how many spans are torn. A block whose erase was torn must be erased again. The
 * next call is fb_power_on().
 */
u32 fb_chip_cut(struct fb_medium *chip, u64 cut_ns, struct fb_chip_torn *torn);

/* Ready after reset_ns; what was under way is torn */
u64 fb_chip_reset(struct fb_medium *chip, u64 now_ns, struct fb_chip_torn *torn, u32 *count);

/*
 * Makes of a page's content, page_bytes + spare_bytes, what is left of it when it is torn. The content is what a
 * finished program would have left, and `before` what the page held before the program; of an erase the content is what
 * the page held before, and `before` is not read. A program clears each bit or does not, and an erase sets it or does
 * not: a program sets none, and an erase clears none. The cells of a torn neighbour hold noise. The seed decides.
 */
void fb_chip_tear(const struct fb_params *params, const struct fb_chip_torn *torn, u32 page, u64 seed,
		  const u8 *before, u8 *content);

#endif
