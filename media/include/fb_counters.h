/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a medium counts since its state was made. FB_COUNTERS is the only list of the counters: it makes the fields of
 * struct fb_counters, the lines of the device's notes and the keys of "fbmedia inspect". Nanoseconds are summed over
 * parts that are busy at the same time: two dies that read at once count twice. Only busy_ns counts each moment once.
 */
#ifndef FB_COUNTERS_H
#define FB_COUNTERS_H

#include "fb_params.h"

/* C(name, kinds, unit, meaning) */
#define FB_COUNTERS(C) \
	C(host_reads, FB_OF_BLOCK, "requests", "read requests") \
	C(host_writes, FB_OF_BLOCK, "requests", "write requests") \
	C(host_discards, FB_OF_BLOCK, "requests", "discard requests") \
	C(host_flushes, FB_OF_BLOCK, "requests", "flush requests") \
	C(host_fua_writes, FB_OF_BLOCK, "requests", "writes past the volatile cache (FUA); also among the writes") \
	C(host_read_bytes, FB_OF_BLOCK, "bytes", "bytes read by the host") \
	C(host_written_bytes, FB_OF_BLOCK, "bytes", "bytes written by the host") \
	C(host_discarded_bytes, FB_OF_BLOCK, "bytes", "bytes discarded by the host") \
	C(busy_ns, FB_OF_BLOCK, "ns", "at least one request under way") \
	C(controller_ns, FB_OF_TIMED, "ns", "controller busy with requests") \
	C(link_ns, FB_OF_TIMED, "ns", "host link busy") \
	C(restarts, FB_OF_ALL, "restarts", "power-ons after a cut") \
	C(restart_ns, FB_OF_BLOCK, "ns", "restarts, until the first request was served") \
	\
	C(flash_read_pages, FB_OF_NAND, "pages", "pages read from the array, for any reason") \
	C(flash_programmed_pages, FB_OF_NAND, "pages", "pages programmed, for any reason, padding included") \
	C(flash_erased_blocks, FB_OF_NAND, "blocks", "blocks erased") \
	C(flash_modified_pages, FB_OF_FLASH, "pages", "pages read because a write covered only part of them") \
	C(collections, FB_OF_FLASH, "blocks", "blocks collected") \
	C(collection_moved_pages, FB_OF_FLASH, "pages", "valid pages moved by collection or merges") \
	C(flash_read_ns, FB_OF_NAND, "ns", "dies busy with reading the array") \
	C(flash_program_ns, FB_OF_NAND, "ns", "dies busy with programming") \
	C(flash_erase_ns, FB_OF_NAND, "ns", "dies busy with erasing") \
	C(flash_bus_ns, FB_OF_FLASH, "ns", "channels busy") \
	C(collection_ns, FB_OF_FLASH, "ns", "writes delayed by collection") \
	C(map_hits, FB_OF_FLASH, "lookups", "lookups served by the controller's part of the map") \
	C(map_read_pages, FB_OF_FLASH, "pages", "pages read from flash to look up the map") \
	C(map_written_pages, FB_OF_FLASH, "pages", "map pages written to flash: by dftl, and as journal with flush_units") \
	C(flash_read_retries, FB_OF_FLASH, "retries", "retries of uncorrectable reads") \
	C(corrected_bits, FB_OF_FLASH, "bits", "wrong bits that error correction corrected") \
	C(uncorrectable_pages, FB_OF_FLASH, "pages", "page reads, for any reason, that no retry could correct") \
	C(program_failures, FB_OF_NAND, "pages", "programs that failed") \
	C(erase_failures, FB_OF_NAND, "blocks", "erases that failed") \
	C(refused_writes, FB_OF_FLASH, "requests", "writes and discards refused because the medium is read-only") \
	C(spare_read_pages, FB_OF_CHIP, "pages", "reads of the spare area alone; also among the pages read") \
	C(spare_programmed_pages, FB_OF_CHIP, "pages", "programs of the spare area alone; also among the pages programmed") \
	C(wrong_bits, FB_OF_CHIP, "bits", "bits that read wrong, before any correction") \
	C(violations, FB_OF_CHIP, "operations", "operations that violate the data sheet") \
	C(flash_suspends, FB_OF_FLASH, "suspends", "erases and programs suspended for a read") \
	C(buffer_read_pages, FB_OF_FLASH, "pages", "pages read from the write buffer") \
	C(buffer_wait_ns, FB_OF_FLASH, "ns", "writes delayed by a full write buffer") \
	C(read_ahead_pages, FB_OF_FLASH, "pages", "pages fetched by read-ahead of sequential reads") \
	C(read_ahead_hits, FB_OF_FLASH, "reads", "page reads served by read-ahead") \
	C(slc_programmed_pages, FB_OF_FLASH, "pages", "pages programmed in SLC mode; also among those programmed") \
	C(slc_folded_pages, FB_OF_FLASH, "pages", "valid pages moved out of the SLC cache") \
	C(slc_fold_ns, FB_OF_FLASH, "ns", "writes delayed by folding, and by the collection that it needs") \
	C(wear_collections, FB_OF_FLASH, "blocks", "blocks collected to level wear; also among collections") \
	C(switch_merges, FB_OF_FLASH, "merges", "log groups that became data groups unchanged") \
	C(partial_merges, FB_OF_FLASH, "merges", "log groups completed from their data group") \
	C(full_merges, FB_OF_FLASH, "merges", "data groups rewritten from log and data") \
	\
	C(disk_seeks, FB_OF_DISK, "seeks", "moves to another cylinder") \
	C(disk_head_switches, FB_OF_DISK, "switches", "changes to another head of the cylinder") \
	C(disk_buffer_hits, FB_OF_DISK, "requests", "reads served by the buffer, its read-ahead or the write cache") \
	C(disk_cached_writes, FB_OF_DISK, "requests", "writes acknowledged in the write cache") \
	C(disk_destages, FB_OF_DISK, "pieces", "tracks or parts of tracks written from the cache to the platter") \
	C(disk_reordered, FB_OF_DISK, "requests", "requests served before an earlier one") \
	C(disk_seek_ns, FB_OF_DISK, "ns", "seeks and head switches, with settling") \
	C(disk_rotation_ns, FB_OF_DISK, "ns", "rotational latency") \
	C(disk_transfer_ns, FB_OF_DISK, "ns", "sectors of requests passing under the head")

#define FB_COUNTER_FIELD(name, kinds, unit, meaning) u64 name;
#define FB_COUNTER_INDEX(name, kinds, unit, meaning) FB_COUNTER_##name,

enum fb_counter { FB_COUNTERS(FB_COUNTER_INDEX) FB_COUNTER_COUNT };

struct fb_counters {
	union {
		struct {
			FB_COUNTERS(FB_COUNTER_FIELD)
		};
		u64 by_index[FB_COUNTER_COUNT];
	};
};

struct fb_counter_rule {
	const char *name;
	const char *unit;
	const char *meaning;
	u32 kinds;
};

const struct fb_counter_rule *fb_counter_rule(enum fb_counter counter);

#endif
