// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The parameter page of the Open NAND Flash Interface Specification, revision 2.2, section 5.7.1 */
#include "fb_chip_bus.h"

#define REVISIONS	0x001eu		/* 1.0 to 2.2 */
#define CRC_START	0x4f4eu
#define CRC_POLYNOMIAL	0x8005u

static void put(u8 *page, u32 at, u32 bytes, u64 value)
{
	for (; bytes--; at++, value >>= 8)
		page[at] = value;
}

/* Padded with blanks */
static void put_text(u8 *page, u32 at, u32 bytes, const char *text)
{
	for (; bytes--; at++)
		page[at] = *text ? *text++ : ' ';
}

static u16 crc_of(const u8 *page)
{
	u32 crc = CRC_START, i, bit;

	for (i = 0; i < FB_ONFI_PAGE_BYTES - 2; i++) {
		crc ^= page[i] << 8;
		for (bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc & 0x8000 ? CRC_POLYNOMIAL : 0);
	}
	return crc;
}

/* Splits a number of erases into a value and a power of ten, as the page's format asks */
static void put_erases(u8 *page, u32 at, u64 erases)
{
	u32 power = 0;

	while (erases > 255) {
		erases /= 10;
		power++;
	}
	page[at] = erases;
	page[at + 1] = power;
}

static u32 logarithm(u64 number)
{
	u32 power = 0;

	while (number > 1ull << power)
		power++;
	return power;
}

void fb_onfi_page(const struct fb_params *p, u8 page[FB_ONFI_PAGE_BYTES])
{
	u32 row_cycles = fb_chip_pages(p) > 65536 ? 3 : 2;

	__builtin_memset(page, 0, FB_ONFI_PAGE_BYTES);
	put_text(page, 0, 4, "ONFI");
	put(page, 4, 2, REVISIONS);
	page[6] = (p->bus_bits == 16) | !p->in_order_pages << 2 | (p->planes > 1) << 3;
	put(page, 8, 2, p->cache_operations ? 3 : 0);
	put_text(page, 32, 12, "FLASHBED");
	put_text(page, 44, 20, "RAW NAND");
	page[64] = p->manufacturer_id;
	put(page, 80, 4, p->page_bytes);
	put(page, 84, 2, p->spare_bytes);
	put(page, 92, 4, p->pages_per_block);
	put(page, 96, 4, p->blocks_per_die);
	page[100] = 1;
	page[101] = 2 << 4 | row_cycles;
	page[102] = p->bits_per_cell;
	put(page, 103, 2, p->factory_bad_blocks);
	put_erases(page, 105, p->endurance_erases);
	page[107] = 1;
	page[110] = p->partial_programs;
	page[112] = p->ecc_codeword_bytes == 512 ? p->ecc_bits : 0xff;	/* per 512 bytes; 0xff: see elsewhere */
	page[113] = logarithm(p->planes);
	put(page, 129, 2, 0x3f);	/* timing modes 0 to 5 */
	put(page, 133, 2, p->program_ns / 1000);
	put(page, 135, 2, p->erase_ns / 1000);
	put(page, 137, 2, p->read_ns / 1000);
	put(page, 254, 2, crc_of(page));
}
