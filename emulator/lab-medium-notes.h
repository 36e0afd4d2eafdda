/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of a medium while its machine runs, as files in a directory of the host:
 *
 *     counters.NAME    at a mark: a line "COUNTER:NUMBER" for each counter of the medium's kind
 *     wear.NAME        at a mark, of a medium that wears: the same for struct fb_wear
 *     clock.NAME       at a mark: the virtual time and that of the guest's own clock, ns
 *     erases.NAME      how often each block was erased: 32 bits a block
 *     requests.bin     when the machine ends, the first requests since they were last forgotten: an array of LabRecord
 *     cycles.bin       when the machine ends, in place of that the first cycles on the bus of a raw chip, and until when
 *                      the chip was busy after each: an array of LabCycle. Put to the same chip on the host, they must
 *                      make it busy for as long.
 *     programmed.bin   how many flash pages had been programmed at which moment since the medium last rested: an array
 *                      of LabMoment. There are at most LAB_MOMENTS, evenly apart as far as requests come; when there is
 *                      no room left, every other one goes, and from then on they lie twice as far apart.
 *     fates.cut        at a power cut: lines "cut_ns:T", "unreadable_sectors:N", "half_erased_blocks:N", and for each
 *                      part of a write that was pending "SEQUENCE OFFSET BYTES kept|lost|unreadable" (fb_power.h), with
 *                      " torn" if the cut met it under way and " neighbour" if it shares cells with one that was
 *
 * The guest chooses the names: letters, digits, dots, dashes and underscores, at most LAB_NAME_MAX of them, no dot
 * first. It can create at most LAB_FILES_MAX files.
 */
#ifndef BLOCK_LAB_MEDIUM_NOTES_H
#define BLOCK_LAB_MEDIUM_NOTES_H

#include "media/fb_medium.h"
#include "media/fb_power.h"

#define LAB_NAME_MAX 64
#define LAB_FILES_MAX 4096
#define LAB_MOMENTS 128

typedef struct LabNotes LabNotes;

typedef struct {
    uint64_t now_ns;
    uint64_t done_ns;
    uint64_t offset_bytes;
    uint64_t length_bytes;
    uint32_t op;                /* enum fb_op */
    uint32_t fua;
} LabRecord;

enum lab_cycle_kind { LAB_CYCLE_COMMAND, LAB_CYCLE_ADDRESS, LAB_CYCLE_WRITE, LAB_CYCLE_READ };

/* A cycle, or a run of equal ones */
typedef struct LabCycle {
    uint64_t now_ns;            /* its end */
    uint64_t ready_ns;          /* the end of the chip's busy time */
    uint32_t kind;              /* enum lab_cycle_kind */
    uint32_t value;             /* the byte of a command or an address; the number of data bytes */
} LabCycle;

typedef struct {
    uint64_t now_ns;
    uint64_t pages;             /* programmed since the medium was made */
} LabMoment;

/*
 * Opens the notes in `folder`; on failure, or if it is NULL, returns NULL and sets *errp. `records`: how many requests,
 * or cycles, to record.
 */
LabNotes *lab_notes_open(const char *folder, uint64_t records, struct fb_medium *medium, Error **errp);
void lab_notes_close(LabNotes *notes);

/* Records a request of the medium */
void lab_notes_request(LabNotes *notes, const struct fb_request *wanted, uint64_t now_ns, uint64_t done_ns);

/* Records a cycle of a raw chip */
void lab_notes_cycle(LabNotes *notes, const LabCycle *cycle);

/* Call it before the medium rests */
void lab_notes_rest(LabNotes *notes);

/* Records the fate of a write part at a power cut (fb_tell); `notes` is a LabNotes */
void lab_notes_fate(void *notes, const struct fb_fated *fated);

/* Writes the note of a power cut, after all fates. False on failure. */
bool lab_notes_cut(LabNotes *notes, uint64_t now_ns);

/* Executes a guest command for notes (lab-medium.h). False if it is unknown, or if the note cannot be written. */
bool lab_notes_told(LabNotes *notes, const char *text, int64_t now_ns, int64_t guest_ns);

#endif
