/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * NAND dies on their channels: how long an operation on the array takes, and the rules of the chip. Which page holds
 * what is the translation layer's business (ftl.h).
 *
 * ppn, the physical page number, is a flash page of a die, counted through its blocks. The chip wants the pages of a
 * block programmed in order, and each once between erases; what breaks that is remembered and reported by
 * fb_nand_verify().
 *
 * Planes of a die hold blocks in step: a block here is the blocks of the same number in all planes, and its pages
 * go through the planes before they go on to the next row. Operations of one batch (a request, or a step of
 * copying) on pages of one row join: the array works on them at the same time. With a write buffer, a page also
 * joins a program of an earlier request that has not begun: either nothing was issued to the die since then, or the
 * page is there before the program begins, so that what waits behind it is not held up.
 *
 * Without cache operations a die is occupied from the start of a transfer into it to the end of the program, and
 * from the start of a read to the end of the transfer out of it. With them, a second register is free again when
 * its page has gone on to the array, or out on the channel.
 *
 * With suspend_ns an erase or a program is suspended for a read, unless its end was acknowledged: erases, what
 * garbage collection programs, and programs of a write buffer that no flush or FUA waits for. What is under way
 * stops after suspend_ns and is resumed resume_ns after the last such read; an erase that has not begun lets reads
 * go first. Only what was issued to the die last can be suspended, and only if it would take longer than suspend_ns.
 *
 * A block whose cells hold several bits can be programmed in SLC mode, with one: it then has fewer pages, which are
 * numbered through, share cells with none, and have times of their own. It stays so until it is erased.
 *
 * A program unit is a row; with one_shot it is a word line in all planes, whose cells are programmed with all their
 * bits at once, as 3D NAND does it, in one program_ns. The controller gathers what collection or folding moves until
 * it has a whole unit, sends the pages together and programs them at once. Such pages can wait: where they came from
 * stays until then.
 *
 * Simplifications: pages that the controller still gathers are read as if they were on flash; the spare area takes no
 * transfer time; a buffered page whose program was suspended gives its
 * room in the buffer back when it would have been done without that; lower, middle and upper pages follow each
 * other in turn.
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

/* A number that no page has */
#define FB_NO_PAGE (~(u64)0)

struct fb_nand_block {
	u32 erase_count;
	u16 programmed_pages;
	u16 flags;
};

/* What else wrong bits in a block depend on; kept where bits can be wrong */
struct fb_nand_past {
	u32 programmed_hours;	/* age of the medium when a page of the block was last programmed */
	u32 reads;		/* of its pages since it was erased; counted where reads disturb */
};

/* The last program of a page */
struct fb_programming {
	u64 begin_ns;
	u64 end_ns;
	u32 die;
	u32 ppn;
	u16 joined;		/* together with others of its row, which end when it does */
	u16 joint;		/* which of the die's joint programs it is */
	u32 page_kind;		/* as fb_nand_page_kind() has it */
};

enum fb_die_op { FB_DIE_IDLE, FB_DIE_READ, FB_DIE_PROGRAM, FB_DIE_ERASE };

/* The read that others of its batch can still join */
struct fb_joint_read {
	u64 batch;
	u64 sensed_ns;
	u32 row;
	u32 planes;		/* a bit each; 0: there is none to join */
};

/* A program that others can still join; with one plane none joins, and it is the one issued last */
struct fb_joint_program {
	u64 batch;
	u64 loaded_ns;
	u64 array_was_free_ns;	/* before it; it begins then, or when it is loaded */
	u64 row_part;		/* 1 + sequence of the part of a write that was programmed last in it (power.h); 0: none */
	u32 row;
	u32 planes;		/* a bit each */
};

/* For each stream of single pages that a die takes: the host's and those rewritten soon, or the SLC cache's and the map */
#define FB_JOINT_PROGRAMS 2
#define FB_NO_JOINT FB_JOINT_PROGRAMS

struct fb_die {
	u64 array_free_ns;
	u64 register_free_ns;
	struct fb_joint_read joint_read;
	struct fb_joint_program joint_programs[FB_JOINT_PROGRAMS];
	u16 last_joint;		/* of joint_programs, the operation issued last; FB_NO_JOINT: it is another */
	u16 last_program;	/* the program issued last; FB_NO_JOINT: one that was gathered */
	u32 erasing_block;

	/* The erase or program issued last, if it can be suspended for reads. It ends when the array is free. */
	u64 resumed_ns;		/* when it began, or is resumed */
	u64 read_until_ns;	/* it is suspended until then; or when it began */
	u64 issued_batch;
	u32 suspendable;		/* enum fb_die_op; FB_DIE_IDLE: nothing can be suspended */
	u32 interrupted;	/* by a read that others can still join: */
	u64 resume_ns;		/* ... then it is resumed so much later */
};

#define FB_SPECIAL_DIES	1u	/* bits can be wrong, or operations are suspended */
#define FB_OTHER_ARRAY	2u	/* array.h */

struct fb_array;

/* Where the tables lie, in bytes from the start of the state, and how large they are for each die */
struct fb_nand_layout {
	u64 dies_offset;
	union {
		u64 channels_offset;
		const struct fb_array *other;	/* with FB_OTHER_ARRAY: asked in place of the model */
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
	u64 special;			/* what most media need not look at: FB_SPECIAL_DIES, FB_OTHER_ARRAY */
};

struct fb_nand {
	struct fb_nand_layout layout;
	u64 batch;
	u64 acknowledged_batch;		/* up to this batch the host knows when programs are done */
	u64 violations;			/* pages programmed out of order, or twice; bad blocks erased */
	u64 gathering;			/* pages programmed wait for the others of their program unit */
	u64 has_page;			/* the die's register has the page programmed next: it was copied back */
	u64 read_failed;		/* the page read last could not be corrected */
	u64 worn_out;			/* a die's reserve is used up (nand_health.h) */
	u64 journal_pages;		/* programmed in blocks that no layer knows of */
	u64 journal_erases;		/* of such blocks */
	struct fb_programming last;
};

/* Of all planes together */
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

/* The part of the layout that has nothing to do with where tables lie */
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

/* Operations from here on are asked for together */
void fb_nand_begin_batch(struct fb_medium *m);

/* The host is told when what was programmed so far is done: nothing may join that and so make it later */
void fb_nand_acknowledge(struct fb_medium *m);

/*
 * One operation on a die, not before ready_ns; they return when it is done. Data of a read is then in the controller. A
 * program that others join is done later than it was said to be, together with the last of them.
 *
 * page is the logical page whose content is programmed, FB_NO_PAGE for a pad: what firmware puts into the spare area.
 * The model has no use for it; whoever puts the layers on real flash has.
 */
u64 fb_nand_read(struct fb_medium *m, u32 die, u32 ppn, u64 ready_ns, u64 transfer_bytes);
u64 fb_nand_program(struct fb_medium *m, u32 die, u32 ppn, u64 page, u64 ready_ns);
u64 fb_nand_erase(struct fb_medium *m, u32 die, u32 block, u64 ready_ns);

/*
 * A unit of all planes and bits of the cells in blocks of the journal, which no layer knows of: two that take turns. When
 * one is full, the other is erased.
 */
u64 fb_nand_program_log(struct fb_medium *m, u32 die, u64 ready_ns);

/* A page that goes onto flash with others of its row and holds nothing: it takes no time */
void fb_nand_pad(struct fb_medium *m, u32 die, u32 ppn);

/* When the die has finished what was issued to it so far */
u64 fb_nand_free_ns(const struct fb_medium *m, u32 die);

/* An erase of a block in all planes is in the counters: of a layer's, of the journal's, or one that was cut short */
void fb_nand_count_erase(struct fb_medium *m);

/* A block whose erase was cut short: another one, when the medium has power again */
void fb_nand_erase_again(struct fb_medium *m, u32 die, u32 block);

/* All dies read so many pages each, one after another, with nothing to transfer; returns how long that takes */
u64 fb_nand_scan(struct fb_medium *m, u64 pages_per_die);

/* 0: lower page, or in SLC mode: shares cells with none before it; 1: middle or upper, ... */
u32 fb_nand_page_kind(const struct fb_medium *m, u32 die, u32 ppn);

/* Until its next erase, the erased block is programmed in SLC mode */
void fb_nand_begin_slc(struct fb_medium *m, u32 die, u32 block);

/* Of the program at hand, for whoever notes parts of writes: as struct fb_joint_program has it; NULL: it was gathered */
u64 *fb_nand_row_part(struct fb_medium *m);

struct fb_wear fb_nand_wear(const struct fb_medium *m);

/* Whether the chip's rules were kept, and whether what it has on it adds up to what was counted */
const char *fb_nand_verify(const struct fb_medium *m);

#endif
