/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tag beside each programmed page: its logical page, and the time of its program. Tags have
 * eight bytes, because that is what a small-page chip leaves free beside its ECC:
 *
 *	bits 0-20	logical page
 *	bit 21		its content was lost: it could not be read when it was moved
 *	bit 22		programmed by the layer itself, from a copy elsewhere
 *	bits 23-55	sequence: counts up with each program
 *	bits 56-63	CRC-8 (x^8 + x^2 + x + 1) of the seven bytes before
 *
 * The CRC has a distance of 4 up to 119 bits, so one wrong bit is corrected and two are detected. A
 * page with all bits set, or all but one, is erased.
 */
#ifndef SFTL_TAG_H
#define SFTL_TAG_H

#include "soft_flash.h"

#define SFTL_MAX_PAGES		((1u << 21) - 1)
#define SFTL_LAST_SEQUENCE	((1ull << 33) - 1)

enum sftl_tag_kind { SFTL_ERASED, SFTL_TAGGED, SFTL_ILLEGIBLE };

struct sftl_tag {
	u32 page;
	bool lost;
	bool copied;
	u64 sequence;		/* starts at 1 */
	bool corrected;		/* one of its bits was corrected */
};

void sftl_encode(const struct sftl_tag *tag, u8 spare[SFTL_SPARE_BYTES]);
enum sftl_tag_kind sftl_decode(const u8 spare[SFTL_SPARE_BYTES], struct sftl_tag *tag);

#endif
