/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI device "lab-nand": a raw NAND chip on a controller, as the driver of a controller sees them. The chip is the
 * medium given by drive= (lab-medium.h), of kind nand; `cycle_ps` is the time in which the controller moves a byte, if
 * that is longer than the chip's own.
 *
 * BAR 0 has registers of 64 bits. What is written to LAB_NAND_COMMAND is a cycle on the chip's bus
 * (media/include/fb_chip_bus.h), what is written to LAB_NAND_ADDRESS up to LAB_NAND_ADDRESSES_MAX of them: the addresses
 * from the lowest byte on, and in the highest byte how many. What is written to LAB_NAND_READ and LAB_NAND_WRITE is so
 * many cycles of data, to or from the guest's memory at LAB_NAND_MEMORY. Cycles begin when they are written, and lie
 * behind those before them. Content moves at once. LAB_NAND_TRANSFER_NS and LAB_NAND_READY_NS say how long the cycles,
 * and R/B# low, still take.
 *
 * A driver that wants to sleep writes to LAB_NAND_WAKE until when. At exactly that moment, or now if it is over, the
 * interrupt (INTx) is raised, until LAB_NAND_WAKE is read: 1, once. It is for one moment at a time.
 *
 * Words of the guest's (lab-medium.h):
 *
 *     cut N SEED     the power goes in the N-th program or erase from now on, at a moment within it that SEED decides;
 *                    what it was about is torn (fb_bus_cut()). From then on the chip takes no cycle.
 *     fail N         the next N programs report that they failed, as on a worn block, whatever they are about
 *
 * The power comes back when LAB_NAND_POWER is written. Read, it is an enum lab_nand_power. kernel/media_nand/ is the
 * driver.
 */
#ifndef HW_BLOCK_LAB_NAND_H
#define HW_BLOCK_LAB_NAND_H

#define LAB_NAND_VENDOR 0x1b36
#define LAB_NAND_DEVICE 0x1ab1

#define LAB_NAND_BYTES_MAX (1 << 20)    /* of data at a time */
#define LAB_NAND_ADDRESSES_SHIFT 56
#define LAB_NAND_ADDRESSES_MAX 7

enum lab_nand_register {
    /* To be read: what the chip is */
    LAB_NAND_PAGE_BYTES = 0x00,
    LAB_NAND_SPARE_BYTES = 0x08,
    LAB_NAND_PAGES_PER_BLOCK = 0x10,
    LAB_NAND_CAPACITY_BYTES = 0x18,
    LAB_NAND_ECC_BITS = 0x20,
    LAB_NAND_ECC_CODEWORD_BYTES = 0x28,
    LAB_NAND_PARTIAL_PROGRAMS = 0x30,
    LAB_NAND_BUS_BITS = 0x38,
    /* To be written */
    LAB_NAND_COMMAND = 0x40,
    LAB_NAND_ADDRESS = 0x48,
    LAB_NAND_MEMORY = 0x50,
    LAB_NAND_READ = 0x58,
    LAB_NAND_WRITE = 0x60,
    /* To be read */
    LAB_NAND_TRANSFER_NS = 0x68,
    LAB_NAND_READY_NS = 0x70,
    /* Both */
    LAB_NAND_WAKE = 0x78,
    LAB_NAND_POWER = 0x80,
};

enum lab_nand_wake { LAB_NAND_NEVER, LAB_NAND_TRANSFERRED, LAB_NAND_READY };

enum lab_nand_power { LAB_NAND_ON, LAB_NAND_CUT_ARMED, LAB_NAND_OFF };

#endif
