/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * NAND faults and their rates: bad blocks, failed programs and erases, wrong bits. Everything follows from the
 * parameters, place, time and seed. No state is kept, so the same query has the same answer at any time. The device's
 * reaction is elsewhere (nand_health.h for devices with a translation layer).
 *
 * Wear w is erase_count / endurance_erases, at most 16; without endurance_erases it is 0.
 *
 *	programs fail		program_fail_ppb * w^2, of 10^9
 *	erases fail		erase_fail_ppb * w^2, of 10^9
 *	a bit is wrong		bit_error_ppt + worn_bit_error_ppt * w^2 + year_bit_error_ppt * w * years
 *				+ read_bit_error_ppt * reads / 10^6, of 10^12, at most one in a hundred
 *	retry r of a read	that rate * (retry_bit_error_percent / 100)^r
 *
 * The forms' sources: write errors, retention and read disturb add up, and grow steeply with erases (Mielke et al.
 * 2008, "Bit error rate in NAND flash memories": four makers' MLC); retention is the largest part, and grows with
 * erases and time (Cai et al. 2012, "Error patterns in MLC NAND flash memory"); blocks below their endurance rarely
 * fail (Boboila and Desnoyers 2010, "Write endurance in flash drives"). The exponents are assumed. Data sheets
 * guarantee that block 0 of a die is good when it is shipped.
 *
 * The wrong bits of a page are Poisson distributed and fall on its codewords with equal probability. They belong to the
 * programmed content: a page has the same number of them if it is read again at the same age and retry. A codeword with
 * more than ecc_bits is not corrected.
 *
 * Simplifications: all pages of a block are as young as the last one programmed; lower and upper pages have as many
 * wrong bits; wrong bits of the spare area do not count; an erased page has none.
 */
#ifndef FB_NAND_FAULTS_H
#define FB_NAND_FAULTS_H

#include "fb_params.h"
#include "nand.h"

#define FB_HOUR_NS	3600000000000ull

/*
 * The place of an operation. The caller may number dies, blocks and pages in any way, as long as it is always the same;
 * erase_count is the block's before the operation.
 */
struct fb_fault_spot {
	u32 die;
	u32 ppn;		/* page; for an erase, the block */
	u32 erase_count;
};

/*
 * Marks `bad` of a die's blocks as bad from the factory, all choices equally likely, but never the first. There must be
 * more blocks than bad ones.
 */
void fb_faults_ship(const struct fb_params *params, u32 die, struct fb_nand_block *blocks, u32 count, u32 bad);

bool fb_faults_program_fails(const struct fb_params *params, const struct fb_fault_spot *spot);
bool fb_faults_erase_fails(const struct fb_params *params, const struct fb_fault_spot *spot);

/* The rate of wrong bits, of 10^12, at the first attempt to read a page of a block, given the medium's age in hours */
u64 fb_faults_bit_error_ppt(const struct fb_params *params, u32 erase_count, const struct fb_nand_past *past,
			    u64 age_hours);

struct fb_bit_errors {
	u32 bits;		/* wrong in the page */
	u32 worst;		/* wrong in the worst codeword: correctable up to ecc_bits */
};

/* The wrong bits of one attempt (0: the first) to read a page, given their rate of 10^12 */
struct fb_bit_errors fb_faults_bit_errors(const struct fb_params *params, const struct fb_fault_spot *spot, u32 attempt,
					  u64 bit_error_ppt);

struct fb_faulty_read {
	u32 retries;
	u32 corrected_bits;	/* of the attempt that succeeded; 0 if none did */
	bool uncorrectable;	/* even after read_retries retries */
};

/* Reads a page as a controller with error correction does: retries until it succeeds */
struct fb_faulty_read fb_faults_read(const struct fb_params *params, const struct fb_fault_spot *spot,
				     const struct fb_nand_past *past, u64 age_hours);

/* For users without error correction: how many bits of the page's data read wrong now, ... */
u32 fb_faults_wrong_bits(const struct fb_params *params, const struct fb_fault_spot *spot,
			 const struct fb_nand_past *past, u64 age_hours);

/* ... and their positions (8 * byte + bit): a prefix of a fixed sequence, each position once */
void fb_faults_positions(const struct fb_params *params, const struct fb_fault_spot *spot, u32 *positions, u32 count);

/* The rules between these parameters; returns false and fills in *complaint */
bool fb_faults_check(const struct fb_params *params, struct fb_complaint *complaint);

/* 2^36 * e^(-x / 2^24) for x in 0 .. 2^27, to within 2^-33 of 2^36 */
u64 fb_faults_exp(u32 x);

#endif
