/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The medium of the machine: a block device whose requests take the time that the media core says. It is the block
 * driver "flashbed", with the options
 *
 *     state=FILE data=FILE notes=FOLDER [digest=D] [record=N] [cut=SEED]
 *
 * STATE is the core's block of memory and DATA the content by address (docs/design.md); both are mapped and shared, so
 * that the files are up to date at any moment. With a digest, the parameters of the state must have it. NOTES takes
 * what the guest asks to be noted (lab-medium-notes.h), and of the first `record` requests when they came and were done;
 * of a raw chip, of the first `record` cycles on its bus.
 * With a SEED the guest can ask for a power cut: the medium goes off at that moment with what it then has, the seed
 * deciding what nobody can know, the fate of each write is noted, and the machine ends.
 *
 * A request comes to the core at the virtual time at which its controller asks, moves its content at once, and ends by
 * a timer of the virtual clock at exactly the time that the core says. No thread but the guest's own has a part in it,
 * so nothing depends on the host's time: the block layer's coroutines, queues and bottom halves are passed by.
 * Content is as with DMA: a read's is in the guest's memory, a write's on the medium, at some time before the end.
 * A discard leaves the content as it is: what a read returns afterwards is the old data, always.
 */
#ifndef BLOCK_LAB_MEDIUM_H
#define BLOCK_LAB_MEDIUM_H

#include "block/block.h"
#include "block/aio.h"

struct fb_medium;
struct fb_params;
struct LabCycle;

enum lab_medium_op { LAB_MEDIUM_READ, LAB_MEDIUM_WRITE, LAB_MEDIUM_DISCARD, LAB_MEDIUM_FLUSH };

/* What a controller tells the guest of it */
typedef struct {
    bool rotational;
    uint32_t rpm;               /* 0: it does not rotate */
    bool volatile_cache;
    uint32_t sector_bytes;
    uint32_t page_bytes;        /* what is read or programmed at once; 0: a sector */
    uint32_t stripe_bytes;      /* a page of each die; 0: none */
    uint64_t discard_bytes;     /* granularity; 0: no discard */
    uint32_t queue_depth;
    uint32_t queues;
} LabMediumTraits;

/* Whether requests to `bs`, which may be NULL, are to go to lab_medium_submit(). */
bool lab_medium_is(BlockDriverState *bs);

/*
 * Ends by cb(opaque, 0), -ENODATA for a read that cannot be corrected, -EROFS where nothing can be written any more,
 * -EIO for what is no whole sectors of the medium. Never before it has returned.
 */
BlockAIOCB *lab_medium_submit(BlockDriverState *bs, enum lab_medium_op op, int64_t offset, int64_t bytes,
                              QEMUIOVector *content, BdrvRequestFlags flags, BlockCompletionFunc *cb, void *opaque);

/* What `bs` is, of which lab_medium_is() holds; all that is known of it. */
const struct fb_params *lab_medium_params(BlockDriverState *bs);
LabMediumTraits lab_medium_traits(BlockDriverState *bs);

/*
 * A raw chip (kind nand) takes no requests: a device has its bus (lab-nand.h), drives it itself and has it noted. `told`
 * says whether it takes a word of the guest's.
 */
typedef bool LabChipTold(void *chip, const char *text);

struct fb_medium *lab_medium_join_chip(BlockDriverState *bs, uint8_t **content, LabChipTold *told, void *chip);
void lab_medium_note_cycle(BlockDriverState *bs, const struct LabCycle *cycle);

/* Bytes of the longest text, with its end */
#define LAB_MEDIUM_TEXT_MAX 96

/*
 * The guest's word to its medium (HINT #114 with the address of a text in X0 and the guest's own clock, ns, in
 * X1): one of
 *
 *     mark NAME      what has been counted until now is noted
 *     erases NAME    how often each block was erased is noted
 *     rest           the medium does what it does by itself in a pause
 *     programmed     when flash pages were programmed since then is noted
 *     forget         the requests that were recorded are forgotten
 *     cut N T        T ns after N more requests came the power goes: the machine ends at once (with a SEED)
 *
 * or, with a raw chip, one of those in lab-nand.h; `cut` is the chip's then.
 *
 * Returns for how many ns the guest is to wait (rest), else 0; -1 if the machine has no such medium, or no such word.
 */
int64_t lab_medium_told(const char *text, int64_t guest_ns);

/* Whether `words` are two whole numbers with a blank between. */
bool lab_two_numbers(const char *words, uint64_t *first, uint64_t *second);

/* The machine ends: what is noted last is noted. */
void lab_medium_end(void);

#endif
