/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What goes wrong on NAND, and how often: bad blocks, failed programs and erases, wrong bits. Everything follows
 * from the parameters, from where and when it happens, and from the seed; nothing is kept here, so that the same
 * question has the same answer at any time. What a device does about it is its own business (nand_health.h for
 * those with a translation layer).
 *
 * Wear w is erase_count / endurance_erases, at most 16; without endurance_erases it is 0.
 *
 *	programs fail		program_fail_ppb * w^2, of 10^9
 *	erases fail		erase_fail_ppb * w^2, of 10^9
 *	a bit is wrong		bit_error_ppt + worn_bit_error_ppt * w^2 + year_bit_error_ppt * w * years
 *				+ read_bit_error_ppt * reads / 10^6, of 10^12, at most one in a hundred
 *	retry r of a read	that rate * (retry_bit_error_percent / 100)^r
 *
 * Where the forms come from: write errors, retention and read disturb add up, and grow steeply with erases (Mielke et
 * al. 2008, "Bit error rate in NAND flash memories": four makers' MLC); retention is the largest part, and grows with
 * erases and time (Cai et al. 2012, "Error patterns in MLC NAND flash memory"); blocks that have not reached their
 * endurance rarely fail (Boboila and Desnoyers 2010, "Write endurance in flash drives"). The exponents are assumed.
 * Data sheets guarantee that block 0 of a die is good when it is shipped.
 *
 * Wrong bits of a page are Poisson distributed and fall on its codewords alike. They belong to what was
 * programmed: the same page read again, with as many retries and as old, has as many. A codeword with more than
 * ecc_bits is not corrected.
 *
 * Simplifications: pages of a block are all as young as the last that was programmed; lower and upper pages have
 * as many wrong bits; those of the spare area do not count; an erased page has none.
 */
#ifndef FB_NAND_FAULTS_H
#define FB_NAND_FAULTS_H

#include "fb_params.h"
#include "nand.h"

#define FB_HOUR_NS	3600000000000ull

/*
 * Where an operation takes place. Dies, blocks and pages are counted as the caller likes, as long as he does so
 * always; erase_count is the block's before the operation.
 */
struct fb_fault_spot {
	u32 die;
	u32 ppn;		/* page; for an erase, the block */
	u32 erase_count;
};

/*
 * Marks so many of a die's blocks as bad from the factory, all choices alike likely, but never the first. There must be
 * more blocks than bad ones.
 */
void fb_faults_ship(const struct fb_params *params, u32 die, struct fb_nand_block *blocks, u32 count, u32 bad);

bool fb_faults_program_fails(const struct fb_params *params, const struct fb_fault_spot *spot);
bool fb_faults_erase_fails(const struct fb_params *params, const struct fb_fault_spot *spot);

/* Wrong bits of 10^12 at the first attempt to read a page of a block, when the medium is so many hours old */
u64 fb_faults_bit_error_ppt(const struct fb_params *params, u32 erase_count, const struct fb_nand_past *past,
			    u64 age_hours);

struct fb_bit_errors {
	u32 bits;		/* wrong in the page */
	u32 worst;		/* wrong in the codeword that has the most: correctable up to ecc_bits */
};

/* Of one attempt to read a page (0: the first) in which so many bits of 10^12 are wrong */
struct fb_bit_errors fb_faults_bit_errors(const struct fb_params *params, const struct fb_fault_spot *spot, u32 attempt,
					  u64 bit_error_ppt);

struct fb_faulty_read {
	u32 retries;
	u32 corrected_bits;	/* of the attempt that was corrected; 0 if none was */
	bool uncorrectable;	/* also after read_retries retries */
};

/* A page as a controller with error correction reads it: retries, as long as it cannot be corrected */
struct fb_faulty_read fb_faults_read(const struct fb_params *params, const struct fb_fault_spot *spot,
				     const struct fb_nand_past *past, u64 age_hours);

/* For who has no error correction at hand: how many bits of the page's data are wrong when it is read now, ... */
u32 fb_faults_wrong_bits(const struct fb_params *params, const struct fb_fault_spot *spot,
			 const struct fb_nand_past *past, u64 age_hours);

/* ... and which: the first so many of a row that is always the same, each once (8 * byte + bit) */
void fb_faults_positions(const struct fb_params *params, const struct fb_fault_spot *spot, u32 *positions, u32 count);

/* The rules between these parameters; false: *complaint is filled in */
bool fb_faults_check(const struct fb_params *params, struct fb_complaint *complaint);

/* A number in 0 .. 2^36 for each number in 0 .. 2^27: 2^36 * e^(-x / 2^24), to within 2^-33 of 2^36 */
u64 fb_faults_exp(u32 x);

#endif
