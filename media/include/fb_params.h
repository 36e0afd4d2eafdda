/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The parameters of a medium. FB_PARAMS is the one place where they are named: the same words are the keys of a media
 * profile, the arguments of fbmedia and the fields of struct fb_params. All are unsigned integers, a few of which are
 * written as words; a name ends in its unit.
 */
#ifndef FB_PARAMS_H
#define FB_PARAMS_H

#include "fb_types.h"

/* K(constant, word): the values of the parameter "kind" */
#define FB_KINDS(K) \
	K(FB_FLASH, "flash") \
	K(FB_DISK, "disk") \
	K(FB_NULL, "null")

/* The values of the parameter "ftl" */
#define FB_FTLS(K) \
	K(FB_FTL_PAGE, "page") \
	K(FB_FTL_BAST, "bast") \
	K(FB_FTL_FAST, "fast")

#define FB_WORD_CONSTANT(constant, word) constant,
enum fb_kind { FB_KINDS(FB_WORD_CONSTANT) FB_KIND_COUNT };
enum fb_ftl_word { FB_FTLS(FB_WORD_CONSTANT) FB_FTL_COUNT };

/* Which kinds a parameter belongs to: a set of bits (1 << kind) */
#define FB_OF_FLASH	(1u << FB_FLASH)
#define FB_OF_DISK	(1u << FB_DISK)
#define FB_OF_TIMED	(FB_OF_FLASH | FB_OF_DISK)
#define FB_OF_ALL	(FB_OF_TIMED | 1u << FB_NULL)

#define FB_NO_DEFAULT	(~(u64)0)
#define FB_MAX_BYTES	(1ull << 44)
#define FB_MAX_NS	10000000000ull
#define FB_MAX_PS	1000000000ull

/*
 * P(name, kinds, min, max, default, meaning). A parameter without a default must be given.
 * Ranges that depend on other parameters are narrowed in fb_check_params().
 */
#define FB_PARAMS(P) \
	P(kind, FB_OF_ALL, 0, FB_KIND_COUNT - 1, FB_NO_DEFAULT, \
	  "flash: NAND behind a controller; disk: rotating disk; null: every request is done after command_ns") \
	P(capacity_bytes, FB_OF_ALL, 4096, FB_MAX_BYTES, FB_NO_DEFAULT, \
	  "size of the medium as its firmware presents it; a disk's geometry follows it") \
	P(used_bytes, FB_OF_ALL, 0, FB_MAX_BYTES, 0, \
	  "the block device shows only this first part of the medium; 0: all of it") \
	P(sector_bytes, FB_OF_ALL, 512, 4096, 512, \
	  "smallest addressable piece, a power of two") \
	P(queue_depth, FB_OF_ALL, 1, 1024, FB_NO_DEFAULT, \
	  "requests that the medium takes at a time") \
	P(command_ns, FB_OF_ALL, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "controller and firmware time of a request; requests pass the controller one by one (null: side by side)") \
	P(link_ps_per_byte, FB_OF_TIMED, 0, FB_MAX_PS, FB_NO_DEFAULT, \
	  "host link (USB, IDE, SATA, PCIe), picoseconds a byte; one direction at a time") \
	\
	P(page_bytes, FB_OF_FLASH, 512, 65536, FB_NO_DEFAULT, \
	  "flash page without its spare area, a power of two: the unit of mapping and of programming") \
	P(pages_per_block, FB_OF_FLASH, 2, 8192, FB_NO_DEFAULT, \
	  "pages of an erase block") \
	P(blocks_per_die, FB_OF_FLASH, 4, 1 << 24, FB_NO_DEFAULT, \
	  "good erase blocks of a die, in all its planes; what exceeds capacity_bytes is over-provisioning") \
	P(dies, FB_OF_FLASH, 1, 256, FB_NO_DEFAULT, \
	  "dies (logical units) that work at the same time; pages are striped over them") \
	P(channels, FB_OF_FLASH, 1, 64, FB_NO_DEFAULT, \
	  "buses between controller and dies; die d hangs on channel d % channels") \
	P(read_ns, FB_OF_FLASH, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "page from the array into the die's register (tR); the lower page, if cells have several bits") \
	P(program_ns, FB_OF_FLASH, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "page from the die's register into the array (tPROG); the lower page, if cells have several bits") \
	P(erase_ns, FB_OF_FLASH, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "erasing a block (tBERS)") \
	P(bus_ps_per_byte, FB_OF_FLASH, 0, FB_MAX_PS, FB_NO_DEFAULT, \
	  "channel between controller and die, picoseconds a byte") \
	P(gc_reserve_blocks, FB_OF_FLASH, 1, 1 << 20, 4, \
	  "page-mapped: free blocks of a plane at which a write first collects garbage") \
	P(ftl, FB_OF_FLASH, 0, FB_FTL_COUNT - 1, FB_FTL_PAGE, \
	  "translation layer; page: each page is mapped by itself; bast, fast: erase groups are mapped, updates go to log " \
	  "groups, of one group each (bast) or shared (fast)") \
	P(blocks_per_group, FB_OF_FLASH, 1, 1024, 1, \
	  "bast, fast: erase blocks of a plane that are mapped and erased as one; a group lies on all planes and dies") \
	P(log_blocks, FB_OF_FLASH, 0, 256, 0, \
	  "bast, fast: groups that may be open for updates") \
	P(planes, FB_OF_FLASH, 1, 8, 1, \
	  "planes of a die; blocks of the same number are erased, and pages of a request read and programmed, together") \
	P(cache_operations, FB_OF_FLASH, 0, 1, 0, \
	  "1: a second register lets a die transfer a page while its array is busy with another") \
	P(bits_per_cell, FB_OF_FLASH, 1, 3, 1, \
	  "pages that share cells; page i of a block is lower (i % bits_per_cell = 0), middle or upper") \
	P(read_middle_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "tR of the middle page of three; 0: as read_ns") \
	P(read_upper_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "tR of the upper page; 0: as read_ns") \
	P(program_middle_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "tPROG of the middle page of three; 0: as program_ns") \
	P(program_upper_ns, FB_OF_FLASH, 0, FB_MAX_NS, 0, \
	  "tPROG of the upper page; 0: as program_ns") \
	P(paired_page_loss, FB_OF_FLASH, 0, 1, 0, \
	  "1: a power cut while an upper page is programmed can destroy the pages that share its cells, also flushed ones; " \
	  "0: the firmware keeps a copy of them until it is done") \
	\
	P(rpm, FB_OF_DISK, 60, 60000, FB_NO_DEFAULT, \
	  "revolutions a minute") \
	P(cylinders, FB_OF_DISK, 16, 1 << 24, FB_NO_DEFAULT, \
	  "tracks of a surface") \
	P(heads, FB_OF_DISK, 1, 64, FB_NO_DEFAULT, \
	  "surfaces: tracks of a cylinder") \
	P(zones, FB_OF_DISK, 1, 64, FB_NO_DEFAULT, \
	  "groups of neighbouring cylinders with the same sectors a track, equal in cylinders") \
	P(outer_sectors_per_track, FB_OF_DISK, 1, 65535, FB_NO_DEFAULT, \
	  "sectors a track in the outermost zone, where address 0 lies") \
	P(inner_sectors_per_track, FB_OF_DISK, 1, 65535, FB_NO_DEFAULT, \
	  "sectors a track in the innermost zone; zones between are interpolated") \
	P(seek_track_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "read seek to the next cylinder") \
	P(seek_average_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "read seek over a third of the cylinders, the data sheet's average") \
	P(seek_full_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "read seek from the first to the last cylinder") \
	P(head_switch_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "change to another head of the cylinder") \
	P(write_settle_ns, FB_OF_DISK, 0, FB_MAX_NS, FB_NO_DEFAULT, \
	  "what a write adds to each seek or head switch") \
	P(readahead_bytes, FB_OF_DISK, 0, 1 << 30, FB_NO_DEFAULT, \
	  "how far the disk reads on by itself after a read, and how much it keeps behind; 0: no buffer")

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

/* What is to be known about a parameter, in the order of enum fb_param */
struct fb_param_rule {
	const char *name;
	const char *meaning;
	u64 min;
	u64 max;
	u64 fallback;		/* its default, or FB_NO_DEFAULT */
	u32 kinds;
};

/* Why fb_check_params() refused. The range is the one that holds beside the other parameters. */
struct fb_complaint {
	enum fb_param param;
	u64 value;
	u64 min;
	u64 max;
	const char *reason;	/* what sets the range; NULL if it is the parameter's own */
};

const struct fb_param_rule *fb_param_rule(enum fb_param param);
const char *fb_kind_word(enum fb_kind kind);

/* The word for a value of a parameter whose values are words; NULL if it is a number, or if there is no such value */
const char *fb_param_word(enum fb_param param, u64 value);

/*
 * False, and *complaint filled in, at the first parameter that does not fit. Parameters of other kinds are not looked
 * at.
 */
bool fb_check_params(const struct fb_params *params, struct fb_complaint *complaint);

/* What the block device shows */
static inline u64 fb_exposed_bytes(const struct fb_params *params)
{
	return params->used_bytes ? params->used_bytes : params->capacity_bytes;
}

static inline bool fb_rotational(const struct fb_params *params)
{
	return params->kind == FB_DISK;
}

#endif
