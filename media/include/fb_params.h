/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The parameters of a medium. FB_PARAMS is the only list of them: it makes the keys of a media profile, the arguments
 * of fbmedia and the fields of struct fb_params. All are unsigned integers; the values of some are written as words. A
 * name ends in its unit.
 */
#ifndef FB_PARAMS_H
#define FB_PARAMS_H

#include "fb_types.h"

/* K(constant, word): the values of the parameter "kind" */
#define FB_KINDS(K) \
	K(FB_FLASH, "flash") \
	K(FB_DISK, "disk") \
	K(FB_NULL, "null") \
	K(FB_NAND, "nand")

/* The values of the parameter "ftl" */
#define FB_FTLS(K) \
	K(FB_FTL_PAGE, "page") \
	K(FB_FTL_BAST, "bast") \
	K(FB_FTL_FAST, "fast") \
	K(FB_FTL_DFTL, "dftl")

/* The values of the parameter "gc_policy" */
#define FB_GC_POLICIES(K) \
	K(FB_GC_GREEDY, "greedy") \
	K(FB_GC_COST_BENEFIT, "cost-benefit") \
	K(FB_GC_RANDOM, "random") \
	K(FB_GC_D_CHOICES, "d-choices")

#define FB_WORD_CONSTANT(constant, word) constant,
enum fb_kind { FB_KINDS(FB_WORD_CONSTANT) FB_KIND_COUNT };
enum fb_ftl_word { FB_FTLS(FB_WORD_CONSTANT) FB_FTL_COUNT };
enum fb_gc_policy { FB_GC_POLICIES(FB_WORD_CONSTANT) FB_GC_POLICY_COUNT };

/* Which kinds a parameter belongs to: a set of bits (1 << kind) */
#define FB_OF_FLASH	(1u << FB_FLASH)
#define FB_OF_DISK	(1u << FB_DISK)
#define FB_OF_TIMED	(FB_OF_FLASH | FB_OF_DISK)
#define FB_OF_CHIP	(1u << FB_NAND)
/* Kinds with NAND: their arrays, wear, failures and bit errors have the same parameters (nand_faults.h) */
#define FB_OF_NAND	(FB_OF_FLASH | FB_OF_CHIP)
/* Kinds that answer requests for sectors (fb_submit()) */
#define FB_OF_BLOCK	(FB_OF_TIMED | 1u << FB_NULL)
#define FB_OF_ALL	(FB_OF_BLOCK | FB_OF_CHIP)

#define FB_NO_DEFAULT	(~(u64)0)
#define FB_MAX_BYTES	(1ull << 44)
#define FB_MAX_NS	10000000000ull
#define FB_MAX_PS	1000000000ull

/*
 * P(name, kinds, min, max, default, meaning). A parameter without a default is mandatory. fb_check_params() narrows
 * ranges that depend on other parameters.
 */
#define FB_PARAMS(P) \
	P(kind, FB_OF_ALL, 0, FB_KIND_COUNT - 1, FB_NO_DEFAULT, \
	  "flash: NAND behind a controller; disk: rotating disk; null: every request is done after " \
	  "command_ns; nand: a raw NAND " \
	  "chip, operated by a driver") \
	P(capacity_bytes, FB_OF_ALL, 4096, FB_MAX_BYTES, FB_NO_DEFAULT, \
	  "size of the medium as its firmware presents it; a disk's geometry follows it; nand: all pages " \
	  "without spare areas") \
	P(used_bytes, FB_OF_BLOCK, 0, FB_MAX_BYTES, 0, \
	  "the block device exposes only this first part of the medium; 0: all of it") \
	P(sector_bytes, FB_OF_BLOCK, 512, 4096, 512, \
	  "smallest addressable unit, a power of two") \
	P(queue_depth, FB_OF_BLOCK, 1, 1024, FB_NO_DEFAULT, \
	  "requests in flight in each queue") \
	P(queues, FB_OF_BLOCK, 1, 1024, 1, \
	  "submission queues; the driver uses at most one per CPU, and shares the CPUs evenly among them") \
	P(command_ns, FB_OF_BLOCK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "controller and firmware time of a request; the controller takes requests one by one (null: in " \
	  "parallel)") \
	P(link_ps_per_byte, FB_OF_TIMED, 0, FB_MAX_PS, FB_NO_DEFAULT, \
	  "host link (USB, IDE, SATA, PCIe), picoseconds a byte; one direction at a time") \
	\
	P(page_bytes, FB_OF_NAND, 512, 65536, FB_NO_DEFAULT, \
	  "flash page without its spare area, a power of two: the unit of mapping and of programming") \
	P(pages_per_block, FB_OF_NAND, 2, 8192, FB_NO_DEFAULT, \
	  "pages of an erase block") \
	P(blocks_per_die, FB_OF_NAND, 4, 1 << 24, FB_NO_DEFAULT, \
	  "erase blocks of a die, in all its planes, bad ones too; what exceeds capacity_bytes is over-provisioning") \
	P(dies, FB_OF_FLASH, 1, 256, FB_NO_DEFAULT, \
	  "dies (logical units) that work at the same time; pages are striped over them") \
	P(channels, FB_OF_FLASH, 1, 64, FB_NO_DEFAULT, \
	  "buses between controller and dies; die d hangs on channel d % channels") \
	P(read_ns, FB_OF_NAND, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "page from the array into the die's register (tR); the lower page, if cells have several bits") \
	P(program_ns, FB_OF_NAND, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "page from the die's register into the array (tPROG); the lower page, if cells have several bits") \
	P(erase_ns, FB_OF_NAND, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "erasing a block (tBERS)") \
	P(bus_ps_per_byte, FB_OF_NAND, 0, FB_MAX_PS, FB_NO_DEFAULT, \
	  "channel between controller and die, picoseconds a byte") \
	P(gc_reserve_blocks, FB_OF_FLASH, 1, 1 << 20, 4, \
	  "page-mapped: a write starts garbage collection when a plane has this many free blocks") \
	P(ftl, FB_OF_FLASH, 0, FB_FTL_COUNT - 1, FB_FTL_PAGE, \
	  "translation layer; page: each page is mapped individually; bast, fast: erase groups are " \
	  "mapped, and updates go to log groups, of one group each (bast) or shared (fast); dftl: as " \
	  "page, with the map on flash and part of it cached") \
	P(blocks_per_group, FB_OF_FLASH, 1, 1024, 1, \
	  "bast, fast: erase blocks of a plane that are mapped and erased together; a group spans all " \
	  "planes and dies") \
	P(log_blocks, FB_OF_FLASH, 0, 256, 0, \
	  "bast, fast: groups that can be open for updates") \
	P(shared_logs, FB_OF_FLASH, 0, 255, 0, \
	  "bast: how many of log_blocks take short writes to any group, one log after another") \
	P(short_write_bytes, FB_OF_FLASH, 0, 1 << 30, 0, \
	  "bast: shorter requests go to the shared logs, unless their group has a log of its own") \
	P(merge_step_pages, FB_OF_FLASH, 0, 65535, 0, \
	  "bast, fast: the oldest shared log is merged while the newest is filled; the least number of " \
	  "pages that merges copy for each page written; 0: it is merged at once when another log is " \
	  "needed") \
	P(copy_back, FB_OF_FLASH, 0, 1, 0, \
	  "bast, fast: 1: a merge moves a page within its plane, not over the channel") \
	P(known_groups, FB_OF_FLASH, 0, 256, 0, \
	  "bast, fast: groups whose page layout the controller knows; for another group it reads it from " \
	  "flash; 0: all") \
	P(map_cache_bytes, FB_OF_FLASH, 0, 1ull << 36, 0, \
	  "dftl: the controller's cache of the map, whole pages of page_bytes / 4 entries; at least one " \
	  "page") \
	P(map_update_bytes, FB_OF_FLASH, 0, 1ull << 36, 0, \
	  "dftl: changed map entries, 8 bytes each, that the controller collects before it writes map " \
	  "pages, each with all its changes; each die has its share; 0: map pages are changed in the " \
	  "cache") \
	P(endurance_erases, FB_OF_NAND, 0, 1 << 24, 0, \
	  "rated erases of a block, from the data sheet; 0: unknown") \
	P(factory_bad_blocks, FB_OF_NAND, 0, 1 << 24, 0, \
	  "erase blocks of a die, in all its planes, that are bad from the factory") \
	P(spare_blocks, FB_OF_FLASH, 0, 1 << 24, 0, \
	  "erase blocks of a die, in all its planes, that replace bad ones; when they are used up, the " \
	  "device is read-only") \
	P(program_fail_ppb, FB_OF_NAND, 0, 1000000000, 0, \
	  "failing programs of 10^9 at endurance_erases; proportional to the square of the erases") \
	P(erase_fail_ppb, FB_OF_NAND, 0, 1000000000, 0, \
	  "failing erases of 10^9 at endurance_erases; proportional to the square of the erases") \
	P(ecc_bits, FB_OF_NAND, 0, 1024, 0, \
	  "wrong bits that error correction corrects in a codeword; 0: bits are never wrong") \
	P(ecc_codeword_bytes, FB_OF_NAND, 256, 65536, 1024, \
	  "data in a codeword; a page has a whole number of them") \
	P(bit_error_ppt, FB_OF_NAND, 0, 1000000000, 0, \
	  "wrong bits of 10^12 in a new block that was just programmed") \
	P(worn_bit_error_ppt, FB_OF_NAND, 0, 1000000000, 0, \
	  "wrong bits of 10^12 added at endurance_erases; proportional to the square of the erases") \
	P(year_bit_error_ppt, FB_OF_NAND, 0, 1000000000, 0, \
	  "wrong bits of 10^12 added by a year since programming at endurance_erases; proportional to " \
	  "erases and to time") \
	P(read_bit_error_ppt, FB_OF_NAND, 0, 1000000000, 0, \
	  "wrong bits of 10^12 added by a million reads of the block; proportional to the reads") \
	P(read_retries, FB_OF_FLASH, 0, 64, 7, \
	  "times that an uncorrectable page is sensed again with other thresholds, for its tR each") \
	P(retry_bit_error_percent, FB_OF_FLASH, 0, 100, 50, \
	  "wrong bits of a retry, relative to the attempt before it") \
	P(suspend_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "time to suspend an unacknowledged erase or program for a read; 0: none is suspended") \
	P(resume_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "time after such a read until the erase or program resumes where it was") \
	P(controller_lanes, FB_OF_FLASH, 1, 64, 1, \
	  "requests that the controller processes at a time, each for command_ns") \
	P(write_command_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "controller and firmware time of a write; 0: as command_ns") \
	P(write_lanes, FB_OF_FLASH, 0, 64, 0, \
	  "writes that the controller processes at a time, beside other requests; 0: they share " \
	  "controller_lanes") \
	P(write_buffer_bytes, FB_OF_FLASH, 0, 1 << 30, 0, \
	  "volatile write buffer, whole pages; 0: a write is done when it is programmed") \
	P(read_ahead_bytes, FB_OF_FLASH, 0, 1 << 30, 0, \
	  "volatile read buffer for read-ahead of sequential reads, whole pages; 0: none") \
	P(discard, FB_OF_FLASH, 0, 1, 1, \
	  "1: the device has discard and reports it; 0: it has no such command, like USB sticks and " \
	  "CompactFlash cards") \
	P(flush_ignored, FB_OF_TIMED, 0, 1, 0, \
	  "1: flushes and FUA return at once, although data is still in the write buffer or the write " \
	  "cache") \
	P(flush_units, FB_OF_FLASH, 0, 16, 0, \
	  "program units (all planes and bits of the cells) that a flush or FUA programs in sequence " \
	  "after its data, if anything was written since the last one: journal of the map, parity; " \
	  "incomplete ones are padded; 0: none, the spare areas of the data hold the map") \
	P(power_loss_protection, FB_OF_FLASH, 0, 1, 0, \
	  "1: capacitors last until the write buffer is on flash: it is not volatile, and a flush does " \
	  "nothing") \
	P(gc_policy, FB_OF_FLASH, 0, FB_GC_POLICY_COUNT - 1, FB_GC_GREEDY, \
	  "page-mapped, the block to collect; greedy: fewest valid pages; cost-benefit: best gain by age " \
	  "over cost; random: any; d-choices: best of gc_choices") \
	P(gc_choices, FB_OF_FLASH, 1, 64, 2, \
	  "d-choices: blocks drawn at random; the one with the fewest valid pages is collected") \
	P(gc_step_pages, FB_OF_FLASH, 0, 65535, 0, \
	  "page-mapped: pages that collection moves for each page that the host writes; 0: a whole block " \
	  "at once") \
	P(gc_idle_blocks, FB_OF_FLASH, 0, 1 << 20, 0, \
	  "page-mapped: an idle die collects until a plane has this many free blocks; 0: never") \
	P(open_blocks, FB_OF_FLASH, 1, 3, 2, \
	  "page-mapped: 1: all pages go to one block; 2: moved pages have a block of their own; 3: so do " \
	  "pages rewritten soon") \
	P(wear_threshold, FB_OF_FLASH, 0, 1 << 20, 0, \
	  "page-mapped: erases that a block may lag behind before wear levelling moves its data; 0: no " \
	  "limit") \
	P(seed, FB_OF_NAND, 0, ~0u, 1, \
	  "seed of the medium's random events") \
	P(planes, FB_OF_NAND, 1, 8, 1, \
	  "planes of a die; they erase blocks of the same number together, and read and program pages of " \
	  "a request together") \
	P(cache_operations, FB_OF_NAND, 0, 1, 0, \
	  "1: a second register lets a die transfer a page while its array is busy with another") \
	P(bits_per_cell, FB_OF_NAND, 1, 3, 1, \
	  "pages that share cells; page i of a block is lower (i % bits_per_cell = 0), middle or upper") \
	P(read_middle_ns, FB_OF_NAND, 0, FB_MAX_NS, 0, \
	  "tR of the middle page of three; 0: as read_ns") \
	P(read_upper_ns, FB_OF_NAND, 0, FB_MAX_NS, 0, \
	  "tR of the upper page; 0: as read_ns") \
	P(program_middle_ns, FB_OF_NAND, 0, FB_MAX_NS, 0, \
	  "tPROG of the middle page of three; 0: as program_ns") \
	P(program_upper_ns, FB_OF_NAND, 0, FB_MAX_NS, 0, \
	  "tPROG of the upper page; 0: as program_ns") \
	P(one_shot, FB_OF_FLASH, 0, 1, 0, \
	  "1: all pages of the same cells, in all planes, are programmed at once in program_ns, outside " \
	  "the SLC cache") \
	P(slc_cache_bytes, FB_OF_FLASH, 0, FB_MAX_BYTES, 0, \
	  "page-mapped, dftl: capacity of the blocks in SLC mode (one bit a cell), which take the host's " \
	  "pages first; each die has its share in whole blocks of all planes, rounded down; 0: none") \
	P(slc_read_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "tR in SLC mode; 0: as read_ns") \
	P(slc_program_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "tPROG in SLC mode; 0: as program_ns") \
	P(slc_step_pages, FB_OF_FLASH, 0, 65535, 0, \
	  "pages folded out of a full SLC cache for each page that the host writes; 0: a whole block at once") \
	P(slc_idle_fold, FB_OF_FLASH, 0, 1, 0, \
	  "1: a die folds its full SLC blocks while it is idle") \
	P(slc_idle_ns, FB_OF_FLASH, 0, FB_MAX_NS, 10000000, \
	  "idle time of a die before it starts folding; 0: it folds in every pause of the host") \
	P(paired_page_loss, FB_OF_NAND, 0, 1, 0, \
	  "1: a power cut while an upper page is programmed can destroy the pages that share its cells, " \
	  "even flushed ones; 0: the firmware keeps a copy of them until the program is done") \
	\
	P(spare_bytes, FB_OF_CHIP, 8, 16384, FB_NO_DEFAULT, \
	  "spare area of a page, behind the page's data") \
	P(bus_bits, FB_OF_CHIP, 8, 16, 8, \
	  "width of the data bus: 8 or 16; bus_ps_per_byte is a byte's share of a cycle") \
	P(partial_programs, FB_OF_CHIP, 1, 15, 1, \
	  "times that a page may be programmed between erases (NOP)") \
	P(spare_partial_programs, FB_OF_CHIP, 0, 15, 0, \
	  "times that a page's spare area may be programmed, if the data sheet counts it separately; 0: they " \
	  "count together") \
	P(in_order_pages, FB_OF_CHIP, 0, 1, 1, \
	  "1: the pages of a block must be programmed in order") \
	P(cache_busy_ns, FB_OF_CHIP, 0, FB_MAX_NS, 0, \
	  "transfer between the two registers (shortest tRCBSY, tCBSY)") \
	P(plane_busy_ns, FB_OF_CHIP, 0, FB_MAX_NS, 0, \
	  "busy time after each plane of a multi-plane operation but the last (tDBSY)") \
	P(reset_ns, FB_OF_CHIP, 0, FB_MAX_NS, 5000, \
	  "busy time after a reset (tRST)") \
	P(manufacturer_id, FB_OF_CHIP, 0, 255, FB_NO_DEFAULT, \
	  "first byte of READ ID") \
	P(device_id, FB_OF_CHIP, 0, 255, FB_NO_DEFAULT, \
	  "second byte of READ ID") \
	P(id_extension, FB_OF_CHIP, 0, (1ull << 48) - 1, 0, \
	  "third to eighth byte of READ ID, the third lowest; 0: READ ID has two bytes") \
	P(onfi, FB_OF_CHIP, 0, 1, 0, \
	  "1: the chip has an ONFI parameter page") \
	\
	P(rpm, FB_OF_DISK, 60, 60000, FB_NO_DEFAULT, \
	  "revolutions a minute") \
	P(cylinders, FB_OF_DISK, 16, 1 << 24, FB_NO_DEFAULT, \
	  "tracks of a surface") \
	P(heads, FB_OF_DISK, 1, 64, FB_NO_DEFAULT, \
	  "surfaces: tracks of a cylinder") \
	P(zones, FB_OF_DISK, 1, 64, FB_NO_DEFAULT, \
	  "groups of adjacent cylinders with equal sectors a track; all zones have equally many cylinders") \
	P(outer_sectors_per_track, FB_OF_DISK, 1, 65535, FB_NO_DEFAULT, \
	  "sectors a track in the outermost zone, which has address 0") \
	P(inner_sectors_per_track, FB_OF_DISK, 1, 65535, FB_NO_DEFAULT, \
	  "sectors a track in the innermost zone; the zones between are interpolated") \
	P(seek_track_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "read seek to the next cylinder") \
	P(seek_average_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "read seek averaged over all pairs of cylinders, the data sheet's average") \
	P(seek_full_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "read seek from the first to the last cylinder") \
	P(head_switch_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "change to another head of the cylinder") \
	P(write_settle_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "additional time of a write for each seek or head switch") \
	P(write_seek_average_ns, FB_OF_DISK, 0, FB_MAX_NS, 0, \
	  "write seek averaged over all pairs of cylinders; 0: seek_average_ns + write_settle_ns") \
	P(segments, FB_OF_DISK, 1, 32, 1, \
	  "independent runs of sectors in the buffer") \
	P(segment_bytes, FB_OF_DISK, 0, 1 << 30, FB_NO_DEFAULT, \
	  "capacity of a segment; 0: no buffer") \
	P(readahead_bytes, FB_OF_DISK, 0, 1 << 30, FB_NO_DEFAULT, \
	  "length of read-ahead after a read") \
	P(write_cache_bytes, FB_OF_DISK, 0, 1 << 30, 0, \
	  "volatile write cache; 0: a write is done when it is on the platter") \
	P(reorder_depth, FB_OF_DISK, 1, 32, 1, \
	  "requests, or extents of the write cache, from which the disk takes the one that it reaches " \
	  "first; 1: in order")

#define FB_PARAM_FIELD(name, kinds, min, max, fallback, meaning) u64 name;
#define FB_PARAM_INDEX(name, kinds, min, max, fallback, meaning) FB_PARAM_##name,

enum fb_param { FB_PARAMS(FB_PARAM_INDEX) FB_PARAM_COUNT };

struct fb_params {
	union {
		struct {
			FB_PARAMS(FB_PARAM_FIELD)
		};
		u64 by_index[FB_PARAM_COUNT];
	};
};

/* The rule of a parameter, in the order of enum fb_param */
struct fb_param_rule {
	const char *name;
	const char *meaning;
	u64 min;
	u64 max;
	u64 fallback;		/* its default, or FB_NO_DEFAULT */
	u32 kinds;
};

/* Why fb_check_params() refused. The range is the one that holds given the other parameters. */
struct fb_complaint {
	enum fb_param param;
	u64 value;
	u64 min;
	u64 max;
	const char *reason;	/* what sets the range; NULL if it is the parameter's own */
};

const struct fb_param_rule *fb_param_rule(enum fb_param param);
const char *fb_kind_word(enum fb_kind kind);

/* The word for a parameter's value; NULL if the parameter is a number, or if there is no such value */
const char *fb_param_word(enum fb_param param, u64 value);

/* Returns false and fills in *complaint at the first invalid parameter. Parameters of other kinds are not checked. */
bool fb_check_params(const struct fb_params *params, struct fb_complaint *complaint);

/* A digest of the parameters: two media have the same one if and only if their kind and parameters are equal */
u64 fb_params_digest(const struct fb_params *params);

/* The bytes of a raw chip's page with its spare area, and the number of its pages */
static inline u64 fb_raw_page_bytes(const struct fb_params *params)
{
	return params->page_bytes + params->spare_bytes;
}

static inline u64 fb_chip_pages(const struct fb_params *params)
{
	return params->pages_per_block * params->blocks_per_die;
}

/* The size of the block device */
static inline u64 fb_exposed_bytes(const struct fb_params *params)
{
	return params->used_bytes ? params->used_bytes : params->capacity_bytes;
}

/* The size of the content that is stored beside the state */
static inline u64 fb_content_bytes(const struct fb_params *params)
{
	return params->kind == FB_NAND ? fb_chip_pages(params) * fb_raw_page_bytes(params) : fb_exposed_bytes(params);
}

/* The discard unit of a flash device: the mapping unit of a log-block layer, else a page. 0: no discard. */
static inline u64 fb_discard_bytes(const struct fb_params *params)
{
	if (params->kind != FB_FLASH || !params->discard)
		return 0;
	if (params->ftl != FB_FTL_BAST && params->ftl != FB_FTL_FAST)
		return params->page_bytes;
	return params->page_bytes * params->pages_per_block * params->blocks_per_group * params->planes * params->dies;
}

/* True if a write must be flushed before it is safe */
static inline bool fb_volatile_cache(const struct fb_params *params)
{
	return (params->kind == FB_DISK && params->write_cache_bytes) ||
	       (params->kind == FB_FLASH && params->write_buffer_bytes && !params->power_loss_protection);
}

static inline bool fb_rotational(const struct fb_params *params)
{
	return params->kind == FB_DISK;
}

#endif
