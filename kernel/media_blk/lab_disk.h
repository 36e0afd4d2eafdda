/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers and commands of the emulator's own disk, described in emulator/lab-disk.h */
#ifndef LAB_DISK_H
#define LAB_DISK_H

#include <linux/types.h>

#define LAB_DISK_VENDOR		0x1b36
#define LAB_DISK_DEVICE		0x1ab0

#define LAB_DISK_MAX_SEGMENTS	253

/* 64-bit registers */
#define LAB_DISK_CAPACITY_BYTES	0x00
#define LAB_DISK_SECTOR_BYTES	0x08
#define LAB_DISK_PAGE_BYTES	0x10
#define LAB_DISK_STRIPE_BYTES	0x18
#define LAB_DISK_DISCARD_BYTES	0x20
#define LAB_DISK_QUEUE_DEPTH	0x28
#define LAB_DISK_FEATURES	0x30
#define LAB_DISK_COMMAND	0x38
#define LAB_DISK_DONE		0x40

#define LAB_DISK_ROTATIONAL	BIT(0)
#define LAB_DISK_VOLATILE_CACHE	BIT(1)

#define LAB_DISK_NONE_DONE	(~0ull)

enum lab_disk_op { LAB_DISK_READ, LAB_DISK_WRITE, LAB_DISK_DISCARD, LAB_DISK_FLUSH };

enum lab_disk_status { LAB_DISK_OK, LAB_DISK_UNREADABLE, LAB_DISK_FAILED };

struct lab_disk_command {
	__le32 op;
	__le32 tag;
	__le64 offset_bytes;
	__le64 length_bytes;
	__le32 fua;
	__le32 segments;
	struct {
		__le64 address;
		__le64 bytes;
	} segment[LAB_DISK_MAX_SEGMENTS];
};

#endif
