/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's medium: a block device whose request times come from the media core. It is the block driver "flashbed",
 * with the options
 *
 *     state=FILE data=FILE notes=FOLDER [digest=D] [record=N] [cut=SEED]
 *
 * STATE is the core's block of memory and DATA the content by address (docs/design.md). Both are mapped and shared, so
 * the files are always up to date. If `digest` is given, the state's parameters must have it. NOTES is the directory
 * for notes on the guest's request (lab-medium-notes.h), and for the times of the first `record` requests; of a raw
 * chip, for the first `record` cycles on its bus. With a SEED the guest can request a power cut: the medium goes off at
 * that moment with what it then holds. The seed decides what is undetermined, the fate of each write is recorded, and
 * the machine ends.
 *
 * A request reaches the core at the virtual time at which its controller issues it. Its content is transferred at once,
 * and it completes by a timer of the virtual clock at exactly the core's time. Only the guest's own thread takes part,
 * so nothing depends on the host's time: the block layer's coroutines, queues and bottom halves are bypassed. As with
 * DMA, content is in the guest's memory (read) or on the medium (write) at some time before the completion. A discard
 * leaves the content unchanged: a later read always returns the old data.
 */
#ifndef BLOCK_LAB_MEDIUM_H
#define BLOCK_LAB_MEDIUM_H

#include "block/block.h"
#include "block/aio.h"

struct fb_medium;
struct fb_params;
struct LabCycle;

enum lab_medium_op { LAB_MEDIUM_READ, LAB_MEDIUM_WRITE, LAB_MEDIUM_DISCARD, LAB_MEDIUM_FLUSH };

/* The properties that a controller reports to the guest */
typedef struct {
    bool rotational;
    uint32_t rpm;               /* 0: not rotating */
    bool volatile_cache;
    uint32_t sector_bytes;
    uint32_t page_bytes;        /* unit of reads and programs; 0: a sector */
    uint32_t stripe_bytes;      /* one page of each die; 0: none */
    uint64_t discard_bytes;     /* granularity; 0: no discard */
    uint32_t queue_depth;
    uint32_t queues;
} LabMediumTraits;

/* True if requests to `bs`, which may be NULL, go to lab_medium_submit(). */
bool lab_medium_is(BlockDriverState *bs);

/*
 * Completes by cb(opaque, 0), or with -ENODATA for an uncorrectable read, -EROFS if the medium is read-only, -EIO if
 * the request is not aligned to the medium's sectors. Never completes before it returns.
 */
BlockAIOCB *lab_medium_submit(BlockDriverState *bs, enum lab_medium_op op, int64_t offset, int64_t bytes,
                              QEMUIOVector *content, BdrvRequestFlags flags, BlockCompletionFunc *cb, void *opaque);

/* The parameters of `bs`, for which lab_medium_is() holds. */
const struct fb_params *lab_medium_params(BlockDriverState *bs);
LabMediumTraits lab_medium_traits(BlockDriverState *bs);

/*
 * A raw chip (kind nand) takes no requests: its controller (lab-nand.h) drives the bus and records the cycles. `told`
 * returns true if it knows the guest's command.
 */
typedef bool LabChipTold(void *chip, const char *text);

/* The power of the raw chip is cut. */
typedef void LabChipCut(void *chip, uint64_t now_ns, uint64_t seed);

struct fb_medium *lab_medium_join_chip(BlockDriverState *bs, uint8_t **content, LabChipTold *told,
                                       LabChipCut *cut_chip, void *chip);
void lab_medium_note_cycle(BlockDriverState *bs, const struct LabCycle *cycle);

/* The longest command in bytes, with its terminator */
#define LAB_MEDIUM_TEXT_MAX 96

/*
 * Executes a guest command to its medium (HINT #114 with the address of a text in X0 and the guest's own clock, ns, in
 * X1):
 *
 *     mark NAME      records the counters
 *     erases NAME    records the erase count of each block
 *     rest           lets the medium do its background work
 *     programmed     records when flash pages were programmed since the last rest
 *     forget         drops the recorded requests
 *     cut N T        cuts the power T ns after N more requests: the machine ends at once (with a SEED)
 *     off T SEED     cuts the power T ns from now: the machine ends. SEED decides what is left of what was under way
 *                    (with the option `cut`, or a raw chip)
 *
 * or, with a raw chip, one of those in lab-nand.h, which has its own `cut`.
 *
 * Returns the ns for which the guest must wait (rest), else 0; -1 if there is no such medium or command.
 */
int64_t lab_medium_told(const char *text, int64_t guest_ns);

/* True if `words` are two whole numbers separated by a blank. */
bool lab_two_numbers(const char *words, uint64_t *first, uint64_t *second);

/* The state's file was replaced by that of another medium with the same parameters: its power comes on. */
void lab_medium_power_on(void);

/* Ends the machine's medium: writes the final notes. */
void lab_medium_end(void);

#endif
