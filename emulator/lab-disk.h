/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI device "lab-disk": a disk with a minimal register set. It is used if Linux's own driver of a controller would
 * cost the host too much (PIO), or if no such controller exists. It executes commands on the medium given by drive=
 * (lab-medium.h) and transfers their content by DMA.
 *
 * BAR 0 has 64-bit registers. Writing the guest address of a struct lab_disk_command to LAB_DISK_COMMAND issues a
 * command. Reading LAB_DISK_DONE returns (status << 32 | tag) of a completed command, once, or all ones. The interrupt
 * (INTx) is raised while there is one. Numbers are little-endian. The driver is kernel/media_blk/.
 */
#ifndef HW_BLOCK_LAB_DISK_H
#define HW_BLOCK_LAB_DISK_H

#define LAB_DISK_VENDOR 0x1b36
#define LAB_DISK_DEVICE 0x1ab0

#define LAB_DISK_SEGMENTS_MAX 253
#define LAB_DISK_TAGS_MAX 1024

/* Read-only, except the last but one, which is write-only */
enum lab_disk_register {
    LAB_DISK_CAPACITY_BYTES = 0x00,
    LAB_DISK_SECTOR_BYTES = 0x08,
    LAB_DISK_PAGE_BYTES = 0x10,         /* 0: a sector */
    LAB_DISK_STRIPE_BYTES = 0x18,       /* 0: none */
    LAB_DISK_DISCARD_BYTES = 0x20,      /* 0: no discard */
    LAB_DISK_QUEUE_DEPTH = 0x28,
    LAB_DISK_FEATURES = 0x30,
    LAB_DISK_COMMAND = 0x38,
    LAB_DISK_DONE = 0x40,
};

enum lab_disk_feature {
    LAB_DISK_ROTATIONAL = 1 << 0,
    LAB_DISK_VOLATILE_CACHE = 1 << 1,
};

enum lab_disk_op { LAB_DISK_READ, LAB_DISK_WRITE, LAB_DISK_DISCARD, LAB_DISK_FLUSH };

enum lab_disk_status { LAB_DISK_OK, LAB_DISK_UNREADABLE, LAB_DISK_FAILED };

struct lab_disk_segment {
    uint64_t address;
    uint64_t bytes;
};

struct lab_disk_command {
    uint32_t op;
    uint32_t tag;
    uint64_t offset_bytes;
    uint64_t length_bytes;
    uint32_t fua;
    uint32_t segments;
    struct lab_disk_segment segment[LAB_DISK_SEGMENTS_MAX];
};

#endif
