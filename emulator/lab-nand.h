/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI device "lab-nand": a raw NAND chip behind a controller. The chip is the medium given by drive=
 * (lab-medium.h), of kind nand. `cycle_ps` is the controller's time for a byte, if that is longer than the chip's own.
 *
 * BAR 0 has 64-bit registers. A write to LAB_NAND_COMMAND is a command cycle on the chip's bus
 * (media/include/fb_chip_bus.h). A write to LAB_NAND_ADDRESS is up to LAB_NAND_ADDRESSES_MAX address cycles: the
 * addresses from the lowest byte on, and their number in the highest byte. A write to LAB_NAND_READ or LAB_NAND_WRITE
 * is that many data cycles, to or from the guest's memory at LAB_NAND_MEMORY. Cycles begin when they are written,
 * behind earlier ones. Content is transferred at once. LAB_NAND_TRANSFER_NS and LAB_NAND_READY_NS are the remaining
 * times of the cycles and of R/B# low.
 *
 * To sleep, a driver writes the wake-up time to LAB_NAND_WAKE. At exactly that time, or now if it is past, the
 * interrupt (INTx) is raised until LAB_NAND_WAKE is read, which returns 1 once. There is one wake-up time.
 *
 * Guest commands (lab-medium.h):
 *
 *     cut N SEED     cuts the power in the N-th program or erase from now on, at a moment within it that SEED decides.
 *                    The operation is torn (fb_bus_cut()). The chip takes no cycle afterwards.
 *     fail N         the next N programs report failure, as on a worn block, whatever they are about
 *
 * A write to LAB_NAND_POWER restores the power. Reading it returns an enum lab_nand_power. The driver is
 * kernel/media_nand/.
 */
#ifndef HW_BLOCK_LAB_NAND_H
#define HW_BLOCK_LAB_NAND_H

#define LAB_NAND_VENDOR 0x1b36
#define LAB_NAND_DEVICE 0x1ab1

#define LAB_NAND_BYTES_MAX (1 << 20)    /* data bytes of one command */
#define LAB_NAND_ADDRESSES_SHIFT 56
#define LAB_NAND_ADDRESSES_MAX 7

enum lab_nand_register {
    /* Read-only: the chip's properties */
    LAB_NAND_PAGE_BYTES = 0x00,
    LAB_NAND_SPARE_BYTES = 0x08,
    LAB_NAND_PAGES_PER_BLOCK = 0x10,
    LAB_NAND_CAPACITY_BYTES = 0x18,
    LAB_NAND_ECC_BITS = 0x20,
    LAB_NAND_ECC_CODEWORD_BYTES = 0x28,
    LAB_NAND_PARTIAL_PROGRAMS = 0x30,
    LAB_NAND_BUS_BITS = 0x38,
    /* Write-only */
    LAB_NAND_COMMAND = 0x40,
    LAB_NAND_ADDRESS = 0x48,
    LAB_NAND_MEMORY = 0x50,
    LAB_NAND_READ = 0x58,
    LAB_NAND_WRITE = 0x60,
    /* Read-only */
    LAB_NAND_TRANSFER_NS = 0x68,
    LAB_NAND_READY_NS = 0x70,
    /* Read and write */
    LAB_NAND_WAKE = 0x78,
    LAB_NAND_POWER = 0x80,
};

enum lab_nand_wake { LAB_NAND_NEVER, LAB_NAND_TRANSFERRED, LAB_NAND_READY };

enum lab_nand_power { LAB_NAND_ON, LAB_NAND_CUT_ARMED, LAB_NAND_OFF };

#endif
