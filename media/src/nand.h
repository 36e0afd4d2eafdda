/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * NAND dies on their channels: the duration of operations on the array, and the chip's rules. The translation layer
 * decides which page holds what (ftl.h).
 *
 * ppn, the physical page number, is a flash page of a die, counted through its blocks. The pages of a block must be
 * programmed in order, and once between erases. The model records violations, and fb_nand_verify() reports them.
 *
 * The planes of a die work in step: a block here is the blocks of the same number in all planes, and its pages go
 * through the planes before the next row. Operations of one batch (a request, or a step of copying) on pages of one row
 * join: the array executes them at the same time. With a write buffer, a page also joins a program of an earlier
 * request that has not begun. This requires either that nothing was issued to the die since then, or that the page
 * arrives before the program begins, so that nothing behind it is delayed.
 *
 * Without cache operations a die is occupied from the start of a transfer into it to the end of the program, and from
 * the start of a read to the end of the transfer out of it. With them, a second register is free again when its page
 * has moved on to the array, or out to the channel.
 *
 * With suspend_ns a read suspends an erase or a program, unless its end was acknowledged. Suspendable are erases,
 * programs of garbage collection, and programs of a write buffer that no flush or FUA waits for. The operation stops
 * after suspend_ns and resumes resume_ns after the last such read. An erase that has not begun lets reads go first.
 * Only the last operation issued to the die can be suspended, and only if it would take longer than suspend_ns.
 *
 * A block of multi-bit cells can be programmed in SLC mode, with one bit a cell. It then has fewer pages, numbered
 * consecutively. They share no cells and have times of their own. The mode lasts until the next erase.
 *
 * A program unit is a row. With one_shot it is a word line in all planes, whose cells are programmed with all their
 * bits at once, in one program_ns, as in 3D NAND. The controller gathers the pages that collection or folding moves
 * until it has a whole unit, sends them together and programs them at once. These pages can wait because their sources
 * exist until then.
 *
 * Simplifications: pages that the controller still gathers are read as if they were on flash; the spare area takes no
 * transfer time; a buffered page whose program was suspended frees its room in the buffer at the time without
 * suspension; lower, middle and upper pages alternate.
 */
#ifndef FB_NAND_H
#define FB_NAND_H

#include "arith.h"
#include "fb_medium.h"
#include "timeline.h"

#define FB_BLOCK_FACTORY_BAD	1u
#define FB_BLOCK_GROWN_BAD	2u
#define FB_BLOCK_SLC		4u	/* programmed with one bit a cell */
#define FB_BLOCK_BAD		(FB_BLOCK_FACTORY_BAD | FB_BLOCK_GROWN_BAD)

/* No page has this number */
#define FB_NO_PAGE (~(u64)0)

struct fb_nand_block {
	u32 erase_count;
	u16 programmed_pages;
	u16 flags;
};

/* The other inputs of a block's bit errors; kept if bits can be wrong */
struct fb_nand_past {
	u32 programmed_hours;	/* the medium's age when a page of the block was last programmed */
	u32 reads;		/* reads of its pages since the erase; counted if reads disturb */
};

/* The last program of a page */
struct fb_programming {
	u64 begin_ns;
	u64 end_ns;
	u32 die;
	u32 ppn;
	u16 joined;		/* together with others of its row, which end at the same time */
	u16 joint;		/* the index of its joint program in the die */
	u32 page_kind;		/* as fb_nand_page_kind() */
};

enum fb_die_op { FB_DIE_IDLE, FB_DIE_READ, FB_DIE_PROGRAM, FB_DIE_ERASE };

/* The read that others of its batch can join */
struct fb_joint_read {
	u64 batch;
	u64 sensed_ns;
	u32 row;
	u32 planes;		/* a bit each; 0: none to join */
};

/* A program that others can join. With one plane none joins, and it is the last one issued. */
struct fb_joint_program {
	u64 batch;
	u64 loaded_ns;
	u64 array_was_free_ns;	/* before the program, which begins then or when it is loaded */
	u64 row_part;		/* 1 + sequence of the write part programmed last in it (power.h); 0: none */
	u32 row;
	u32 planes;		/* a bit each */
};

/* One for each stream of single pages to a die: the host's and hot ones, or the SLC cache's and the map's */
#define FB_JOINT_PROGRAMS 2
#define FB_NO_JOINT FB_JOINT_PROGRAMS

struct fb_die {
	u64 array_free_ns;
	u64 register_free_ns;
	struct fb_joint_read joint_read;
	struct fb_joint_program joint_programs[FB_JOINT_PROGRAMS];
	u16 last_joint;		/* the last operation issued, in joint_programs; FB_NO_JOINT: it is another one */
	u16 last_program;	/* the last program issued; FB_NO_JOINT: a gathered one */
	u32 erasing_block;

	/* The last erase or program issued, if a read can suspend it. It ends when the array is free. */
	u64 resumed_ns;		/* its begin or resumption */
	u64 read_until_ns;	/* the end of the suspending reads; or its begin */
	u64 issued_batch;
	u32 suspendable;		/* enum fb_die_op; FB_DIE_IDLE: none */
	u32 interrupted;	/* by a read that others can still join: */
	u64 resume_ns;		/* ... then it resumes this much later */
};

#define FB_SPECIAL_DIES	1u	/* wrong bits or suspension are possible */
#define FB_OTHER_ARRAY	2u	/* array.h */

struct fb_array;

/* The tables' offsets from the start of the state, and their sizes for each die */
struct fb_nand_layout {
	u64 dies_offset;
	union {
		u64 channels_offset;
		const struct fb_array *other;	/* with FB_OTHER_ARRAY: replaces the model */
	};
	u64 blocks_offset;
	u64 pasts_offset;
	u64 reserves_offset;
	u64 blocks_per_die;
	u64 pages_per_block;
	u64 slc_pages_per_block;	/* in SLC mode */
	u64 page_shift;			/* page_bytes as a power of two */
	struct fb_divisor by_pages_per_block;
	struct fb_divisor by_planes;
	struct fb_divisor by_channels;
	u64 special;			/* rare features: FB_SPECIAL_DIES, FB_OTHER_ARRAY */
};

struct fb_nand {
	struct fb_nand_layout layout;
	u64 batch;
	u64 acknowledged_batch;		/* the host knows when programs up to this batch are done */
	u64 violations;			/* pages programmed out of order or twice; bad blocks erased */
	u64 gathering;			/* programmed pages wait for the rest of their program unit */
	u64 has_page;			/* copy-back: the die's register has the page programmed next */
	u64 read_failed;		/* the last read was uncorrectable */
	u64 worn_out;			/* a die's reserve is used up (nand_health.h) */
	u64 journal_pages;		/* programmed in the journal's blocks, which no layer knows of */
	u64 journal_erases;		/* erases of such blocks */
	struct fb_programming last;
};

/* Erase blocks, over all planes */
static inline u64 fb_nand_blocks(const struct fb_params *p)
{
	return p->blocks_per_die / p->planes;
}

static inline u64 fb_nand_pages(const struct fb_params *p)
{
	return p->pages_per_block * p->planes;
}

static inline u64 fb_nand_slc_pages(const struct fb_params *p)
{
	return p->pages_per_block / p->bits_per_cell * p->planes;
}

/* The part of the layout that does not depend on the tables' places */
static inline struct fb_nand_layout fb_nand_geometry(const struct fb_params *p)
{
	return (struct fb_nand_layout) {
		.blocks_per_die = fb_nand_blocks(p),
		.pages_per_block = fb_nand_pages(p),
		.slc_pages_per_block = fb_nand_slc_pages(p),
		.page_shift = __builtin_ctzll(p->page_bytes),
		.by_pages_per_block = fb_divisor(fb_nand_pages(p)),
		.by_planes = fb_divisor(p->planes),
		.by_channels = fb_divisor(p->channels),
	};
}

struct fb_nand_layout fb_nand_layout(const struct fb_params *params, u64 *end_offset);
void fb_nand_power_on(struct fb_medium *m);

/* Starts a batch: the operations from here on belong together */
void fb_nand_begin_batch(struct fb_medium *m);

/* The host learns when the programs so far are done: nothing may join and delay them any more */
void fb_nand_acknowledge(struct fb_medium *m);

/*
 * Executes one operation on a die, not before ready_ns, and returns its end. Read data is in the controller then. If
 * others join a program, it ends later than returned, together with the last of them.
 *
 * `page` is the logical page programmed, or FB_NO_PAGE for padding; firmware writes it to the spare area. The model
 * ignores it, but real flash below the layers needs it.
 */
u64 fb_nand_read(struct fb_medium *m, u32 die, u32 ppn, u64 ready_ns, u64 transfer_bytes);
u64 fb_nand_program(struct fb_medium *m, u32 die, u32 ppn, u64 page, u64 ready_ns);
u64 fb_nand_erase(struct fb_medium *m, u32 die, u32 block, u64 ready_ns);

/*
 * Programs a unit, all planes and bits of the cells, to the journal. The journal alternates between two blocks that no
 * layer knows of: when one is full, the other is erased.
 */
u64 fb_nand_program_log(struct fb_medium *m, u32 die, u64 ready_ns);

/* Programs an empty page that completes a row; it takes no time */
void fb_nand_pad(struct fb_medium *m, u32 die, u32 ppn);

/* The time at which the die has finished everything issued so far */
u64 fb_nand_free_ns(const struct fb_medium *m, u32 die);

/* Counts an erase of a block in all planes: a layer's, the journal's, or an interrupted one */
void fb_nand_count_erase(struct fb_medium *m);

/* Erases a block again, at power-on, whose erase was interrupted */
void fb_nand_erase_again(struct fb_medium *m, u32 die, u32 block);

/* All dies read `pages_per_die` pages each, in sequence and without transfers; returns the duration */
u64 fb_nand_scan(struct fb_medium *m, u64 pages_per_die);

/* 0: lower page or SLC mode, sharing no cells with an earlier page; 1: middle or upper, ... */
u32 fb_nand_page_kind(const struct fb_medium *m, u32 die, u32 ppn);

/* Programs the erased block in SLC mode until its next erase */
void fb_nand_begin_slc(struct fb_medium *m, u32 die, u32 block);

/* The current program's row_part of struct fb_joint_program; NULL if the program was gathered */
u64 *fb_nand_row_part(struct fb_medium *m);

struct fb_wear fb_nand_wear(const struct fb_medium *m);

/* Checks that the chip's rules were kept, and that its blocks agree with the counters */
const char *fb_nand_verify(const struct fb_medium *m);

#endif
