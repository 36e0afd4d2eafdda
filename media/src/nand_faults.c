// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* NAND faults: random, but determined by parameters, spot and seed */
#include "nand_faults.h"
#include "arith.h"
#include "check.h"
#include "random.h"

#define WEAR_ONE	1024u		/* w = 1 */
#define MAX_WEAR	(16 * WEAR_ONE)
#define MAX_PPT	10000000000ull	/* one bit in a hundred */
#define HOURS_A_YEAR	8766u
#define MAX_CODEWORDS	256u		/* 64 KiB in codewords of 256 bytes */

/* --- chance --- */

enum chance { CHANCE_SHIPPED, CHANCE_PROGRAM, CHANCE_ERASE, CHANCE_BITS, CHANCE_POSITIONS };

static u64 chance_of(const struct fb_params *p, enum chance what, const struct fb_fault_spot *spot, u32 attempt)
{
	u64 z = fb_mix(p->seed << 32 | what << 16 | attempt);

	z = fb_mix(z + ((u64)spot->die << 32 | spot->ppn) + FB_SPLITMIX_STEP);
	return fb_mix(z + spot->erase_count + FB_SPLITMIX_STEP);
}

/* --- bad blocks, failures --- */

/* Selection sampling: each block is bad with the odds of those still wanted among those still to come */
void fb_faults_ship(const struct fb_params *p, u32 die, struct fb_nand_block *blocks, u32 count, u32 bad)
{
	struct fb_fault_spot spot = { .die = die };
	u64 state = chance_of(p, CHANCE_SHIPPED, &spot, 0);
	u32 i;

	for (i = 1; i < count && bad; i++) {
		if ((fb_splitmix(&state) >> 32) * (count - i) >> 32 >= bad)
			continue;
		blocks[i].flags |= FB_BLOCK_FACTORY_BAD;
		bad--;
	}
}

/* In 1/1024 */
static u64 wear_of(const struct fb_params *p, u32 erase_count)
{
	if (!p->endurance_erases)
		return 0;
	return fb_min((u64)erase_count * WEAR_ONE / p->endurance_erases, MAX_WEAR);
}

static bool fails(const struct fb_params *p, enum chance what, const struct fb_fault_spot *spot, u64 worn_ppb)
{
	u64 wear = wear_of(p, spot->erase_count);
	u64 limit = worn_ppb * wear * wear;		/* of 10^9 * 2^20 */

	if (limit >= 1000000000ull << 20)
		return true;
	return chance_of(p, what, spot, 0) < limit * 17592;	/* 2^64 / 10^9 / 2^20 */
}

bool fb_faults_program_fails(const struct fb_params *p, const struct fb_fault_spot *spot)
{
	return p->program_fail_ppb && fails(p, CHANCE_PROGRAM, spot, p->program_fail_ppb);
}

bool fb_faults_erase_fails(const struct fb_params *p, const struct fb_fault_spot *spot)
{
	return p->erase_fail_ppb && fails(p, CHANCE_ERASE, spot, p->erase_fail_ppb);
}

/* --- wrong bits --- */

u64 fb_faults_bit_error_ppt(const struct fb_params *p, u32 erase_count, const struct fb_nand_past *past, u64 age_hours)
{
	u64 wear = wear_of(p, erase_count);
	u64 hours = age_hours > past->programmed_hours ? age_hours - past->programmed_hours : 0;
	u64 ppt = p->bit_error_ppt;

	ppt += p->worn_bit_error_ppt * wear / WEAR_ONE * wear / WEAR_ONE;
	ppt += p->year_bit_error_ppt * wear / WEAR_ONE * fb_min(hours, 100 * HOURS_A_YEAR) / HOURS_A_YEAR;
	ppt += p->read_bit_error_ppt * past->reads / 1000000;
	return fb_min(ppt, MAX_PPT);
}

/* e^0 .. e^-8 in 1/2^36 */
static const u64 exp_of_whole[] = {
	68719476736ull, 25280482699ull, 9300169848ull, 3421341286ull, 1258641121ull, 463028192ull, 170338553ull,
	62664052ull, 23052816ull,
};

/* e^-f = 1 - f (1 - f/2 (1 - f/3 (...))) for f below 1 */
u64 fb_faults_exp(u32 x)
{
	u64 part = x & 0xffffff;
	u64 sum = 1ull << 36;
	u32 i;

	for (i = 13; i; i--)
		sum = (1ull << 36) - (sum * part >> 24) / i;
	return (sum >> 5) * (exp_of_whole[x >> 24] >> 4) >> 27;
}

/* A Poisson number with mean x / 2^24, at most 8: the number of terms whose cumulative odds stay below `chance` */
static u32 poisson_of(u32 x, u64 odds, u64 chance)
{
	u64 left = chance >> 28;
	u32 count = 0;

	while (left >= odds && odds) {
		left -= odds;
		count++;
		odds = odds * x / count >> 24;
	}
	return count;
}

/* Distributes the wrong bits over the codewords; poisson_of() gave their number */
static u32 worst_codeword(const struct fb_params *p, u64 *state, u32 bits)
{
	u32 codewords = p->page_bytes / p->ecc_codeword_bytes;
	u16 count[MAX_CODEWORDS] = { 0 };
	u32 worst = 0;

	while (bits--) {
		u16 *thrown = &count[(fb_splitmix(state) >> 32) * codewords >> 32];

		if (++*thrown > worst)
			worst = *thrown;
	}
	return worst;
}

/* Splits the mean into parts of at most 8: a sum of Poisson numbers is one */
struct fb_bit_errors fb_faults_bit_errors(const struct fb_params *p, const struct fb_fault_spot *spot, u32 attempt,
					  u64 ppt)
{
	/* 10^12 / 2^24 = 59604.6; 59605 is 5 parts per million more */
	u64 mean = p->page_bytes * 8 * ppt / 59605;
	struct fb_bit_errors errors = { 0 };
	u64 state = chance_of(p, CHANCE_BITS, spot, attempt);

	for (; mean > 8u << 24; mean -= 8u << 24)
		errors.bits += poisson_of(8u << 24, exp_of_whole[8], fb_splitmix(&state));
	errors.bits += poisson_of(mean, fb_faults_exp(mean), fb_splitmix(&state));
	errors.worst = errors.bits;
	if (errors.bits > p->ecc_bits && p->page_bytes > p->ecc_codeword_bytes)
		errors.worst = worst_codeword(p, &state, errors.bits);
	return errors;
}

struct fb_faulty_read fb_faults_read(const struct fb_params *p, const struct fb_fault_spot *spot,
				     const struct fb_nand_past *past, u64 age_hours)
{
	u64 ppt = fb_faults_bit_error_ppt(p, spot->erase_count, past, age_hours);
	struct fb_faulty_read read = { 0 };

	for (;; read.retries++) {
		struct fb_bit_errors errors = fb_faults_bit_errors(p, spot, read.retries, ppt);

		if (errors.worst <= p->ecc_bits) {
			read.corrected_bits = errors.bits;
			return read;
		}
		if (read.retries == p->read_retries) {
			read.uncorrectable = true;
			return read;
		}
		ppt = ppt * p->retry_bit_error_percent / 100;
	}
}

u32 fb_faults_wrong_bits(const struct fb_params *p, const struct fb_fault_spot *spot,
			 const struct fb_nand_past *past, u64 age_hours)
{
	return fb_faults_bit_errors(p, spot, 0, fb_faults_bit_error_ppt(p, spot->erase_count, past, age_hours)).bits;
}

static bool among(const u32 *positions, u32 count, u32 position)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (positions[i] == position)
			return true;
	return false;
}

void fb_faults_positions(const struct fb_params *p, const struct fb_fault_spot *spot, u32 *positions, u32 count)
{
	u64 state = chance_of(p, CHANCE_POSITIONS, spot, 0);
	u32 i = 0;

	while (i < count) {
		u32 position = (fb_splitmix(&state) >> 32) * (p->page_bytes * 8) >> 32;

		if (!among(positions, i, position))
			positions[i++] = position;
	}
}

bool fb_faults_check(const struct fb_params *p, struct fb_complaint *complaint)
{
	bool worn = p->program_fail_ppb || p->erase_fail_ppb || p->worn_bit_error_ppt || p->year_bit_error_ppt;

	return (!worn || fb_check_range(complaint, p, FB_PARAM_endurance_erases, 1, 1 << 24,
					"failures and wrong bits grow with the wear, of which it is the measure")) &&
	       (!p->ecc_bits || fb_check_range(complaint, p, FB_PARAM_ecc_codeword_bytes, 256, p->page_bytes,
					       "no more than page_bytes")) &&
	       (!p->ecc_bits || p->page_bytes % p->ecc_codeword_bytes == 0 ||
		fb_complain(complaint, p, FB_PARAM_ecc_codeword_bytes, 256, p->page_bytes,
			    "must divide page_bytes"));
}
