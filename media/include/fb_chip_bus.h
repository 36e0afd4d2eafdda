/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The bus interface of a raw NAND chip: command, address and data cycles in place of the operations of fb_chip.h,
 * together with the content. A controller forwards its driver's cycles and models the bus time.
 *
 * Unlike the medium, this structure has pointers. It lies in the controller's memory and starts afresh at each
 * power-on.
 *
 *	small pages (512)	00h, 01h, 50h point to the first or second half or the spare area; the read begins with
 *				the last address cycle; 80h-10h
 *	large pages		00h-30h, 05h-E0h, 31h, 3Fh; several planes: 00h-32h, 06h-E0h
 *				80h-10h, 85h, 15h; several planes: 80h-11h
 *	all			60h-D0h, 60h-D1h, 70h, 78h, 90h, ECh with onfi, FFh; 00h-35h and 85h-10h copy back
 *
 * Unknown commands are ignored, and so are cache commands if the chip has no cache operations. A page with wrong bits
 * reads wrong. Bytes behind the last column read as 0xff.
 */
#ifndef FB_CHIP_BUS_H
#define FB_CHIP_BUS_H

#include "fb_chip.h"

#define FB_BUS_MAX_CYCLES	8u
#define FB_BUS_MAX_FLIPS	1024u
#define FB_ONFI_PAGE_BYTES	256u
#define FB_ONFI_COPIES		3u

enum fb_bus_output { FB_BUS_OF_PAGE, FB_BUS_OF_STATUS, FB_BUS_OF_ID, FB_BUS_OF_ONFI };

struct fb_chip_bus {
	struct fb_medium *chip;
	u8 *content;			/* fb_content_bytes() */
	u8 *registers;			/* fb_bus_register_bytes(): for each plane a page, what its last block to be
					   erased held, and what the pages of its last two programs held before */
	u64 ready_ns;			/* R/B# goes high */

	u32 command;			/* waits for addresses, data or another command */
	u32 cycles;			/* address cycles since then */
	u8 address[FB_BUS_MAX_CYCLES];
	u32 output;			/* enum fb_bus_output: the source of the next data cycle */
	u32 at;				/* ... and the position in it */
	u32 area;			/* small pages: the origin of columns */
	u32 read_page;			/* of plane 0, in the data register for a cached read */
	u32 out_page;			/* the page whose register is read */
	struct fb_chip_span loading;	/* the next program; from the first to the last loaded byte */
	u32 queued;			/* planes loaded, or queued for an erase or read */
	u32 queued_page[FB_CHIP_PLANES];
	u32 before_page[FB_CHIP_PLANES][2];	/* of the last two programs of each plane ... */
	u32 before_turn[FB_CHIP_PLANES];	/* ... which of them is the last */
	u32 flips[FB_BUS_MAX_FLIPS];
};

size_t fb_bus_register_bytes(const struct fb_params *params);

/* The caller owns all memory; the content is that of the chip */
void fb_bus_init(struct fb_chip_bus *bus, struct fb_medium *chip, u8 *content, u8 *registers);

/* Ends a cycle at now_ns. The chip is busy until bus->ready_ns. */
void fb_bus_command(struct fb_chip_bus *bus, u8 command, u64 now_ns);
void fb_bus_address(struct fb_chip_bus *bus, u8 address, u64 now_ns);
void fb_bus_write(struct fb_chip_bus *bus, const u8 *bytes, u32 count);
void fb_bus_read(struct fb_chip_bus *bus, u8 *bytes, u32 count, u64 now_ns);

/* Cuts the power: tears the content of what is under way. The seed decides what is undetermined. */
void fb_bus_cut(struct fb_chip_bus *bus, u64 cut_ns, u64 seed);

/* Fills in the parameter page from the chip's parameters, with its checksum */
void fb_onfi_page(const struct fb_params *params, u8 page[FB_ONFI_PAGE_BYTES]);

#endif
