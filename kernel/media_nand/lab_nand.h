/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers of the emulator's controller of a raw NAND chip, described in emulator/lab-nand.h */
#ifndef LAB_NAND_H
#define LAB_NAND_H

#define LAB_NAND_VENDOR			0x1b36
#define LAB_NAND_DEVICE			0x1ab1

/* 64-bit registers */
#define LAB_NAND_PAGE_BYTES		0x00
#define LAB_NAND_SPARE_BYTES		0x08
#define LAB_NAND_PAGES_PER_BLOCK	0x10
#define LAB_NAND_CAPACITY_BYTES		0x18
#define LAB_NAND_ECC_BITS		0x20
#define LAB_NAND_ECC_CODEWORD_BYTES	0x28
#define LAB_NAND_PARTIAL_PROGRAMS	0x30
#define LAB_NAND_BUS_BITS		0x38
#define LAB_NAND_COMMAND		0x40
#define LAB_NAND_ADDRESS		0x48
#define LAB_NAND_MEMORY			0x50
#define LAB_NAND_READ			0x58
#define LAB_NAND_WRITE			0x60
#define LAB_NAND_TRANSFER_NS		0x68
#define LAB_NAND_READY_NS		0x70
#define LAB_NAND_WAKE			0x78
#define LAB_NAND_POWER			0x80

/* In LAB_NAND_ADDRESS: the number of addresses, and its maximum */
#define LAB_NAND_ADDRESSES_SHIFT	56
#define LAB_NAND_ADDRESSES_MAX		7

enum lab_nand_wake { LAB_NAND_NEVER, LAB_NAND_TRANSFERRED, LAB_NAND_READY };

enum lab_nand_power { LAB_NAND_ON, LAB_NAND_CUT_ARMED, LAB_NAND_OFF };

#endif
