// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* "fbmedia cut" and "fbmedia undo": a power cut carried out on the files of a medium */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "carry_out.h"
#include "cut.h"
#include "message.h"
#include "state_file.h"

static const char *const fates[] = { [FB_KEPT] = "kept", [FB_LOST] = "lost", [FB_UNREADABLE] = "unreadable" };

struct mapping {
	void *memory;
	size_t bytes;
};

/* Changes go to the file */
static bool map_file(const char *path, struct mapping *mapping)
{
	struct stat status;
	int fd = open(path, O_RDWR);

	if (fd < 0 || fstat(fd, &status) < 0)
		return complain(path, strerror(errno));
	mapping->bytes = status.st_size;
	if (!mapping->bytes)
		return complain(path, "is empty");
	mapping->memory = mmap(NULL, mapping->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapping->memory == MAP_FAILED)
		return complain(path, strerror(errno));
	return true;
}

bool cut_make_undo(const char *state, const char *undo)
{
	struct fb_medium *medium = state_file_open(state);
	struct mapping mapping;
	int fd;

	if (!medium)
		return false;
	if (fb_medium_params(medium)->kind == FB_NAND)
		return complain(state, "a raw NAND chip: its driver cuts its power");
	fd = open(undo, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || ftruncate(fd, fb_undo_bytes(fb_medium_params(medium))) < 0)
		return complain(undo, strerror(errno));
	close(fd);
	if (!map_file(undo, &mapping))
		return false;
	fb_undo_init(mapping.memory, fb_medium_params(medium));
	munmap(mapping.memory, mapping.bytes);
	return true;
}

struct telling {
	u64 bytes[3];
	const char *separator;
};

static void tell(void *context, const struct fb_fated *fated)
{
	struct telling *t = context;

	t->bytes[fated->fate] += fated->length_bytes;
	printf("%s\n  {\"sequence\": %" PRIu64 ", \"offset_bytes\": %" PRIu64 ", \"length_bytes\": %" PRIu64
	       ", \"fate\": \"%s\", \"torn\": %s, \"neighbour\": %s}", t->separator, fated->sequence,
	       fated->offset_bytes, fated->length_bytes, fates[fated->fate], fated->torn ? "true" : "false",
	       fated->neighbour ? "true" : "false");
	t->separator = ",";
}

static bool open_undo(const char *path, const struct fb_medium *medium, struct mapping *mapping, struct fb_undo **undo)
{
	enum fb_error error;

	if (!map_file(path, mapping))
		return false;
	error = fb_undo_open(mapping->memory, mapping->bytes, fb_medium_params(medium), undo);
	return !error || complain(path, error == FB_NOT_A_STATE ? "no file that fbmedia undo made" :
				  error == FB_DAMAGED ? "damaged, or of another medium" : fb_error_text(error));
}

/* The driver noted when it cut the power; the caller may know another moment */
static bool choose_moment(const char *path, const struct fb_medium *medium, const struct fb_undo *undo, u64 *cut_ns)
{
	if (*cut_ns == FB_NEVER)
		*cut_ns = undo->cut_ns;
	if (*cut_ns == FB_NEVER)
		return complain(path, "has no moment at which the power was cut; give one with --at");
	return *cut_ns >= fb_last_request_ns(medium) || complain("--at", "before the last request came");
}

bool cut_medium(const struct cut_files *files, u64 cut_ns, u64 seed)
{
	struct fb_medium *medium = state_file_open(files->state);
	struct mapping data, region;
	struct telling telling = { .separator = "" };
	struct fb_undo *undo;
	const char *reason;
	u64 exposed_bytes;

	if (!medium || !open_undo(files->undo, medium, &region, &undo) || !map_file(files->data, &data) ||
	    !choose_moment(files->undo, medium, undo, &cut_ns))
		return false;
	exposed_bytes = fb_exposed_bytes(fb_medium_params(medium));
	if (data.bytes < exposed_bytes)
		return complain(files->data, "smaller than the medium");
	printf("{\"cut_ns\": %" PRIu64 ", \"seed\": %" PRIu64 ", \"writes\": [", cut_ns, seed);
	if (!carry_out_cut(medium, undo, data.memory, exposed_bytes, cut_ns, seed, tell, &telling, &reason))
		return complain(files->undo, reason);
	printf("],\n \"kept_bytes\": %" PRIu64 ", \"lost_bytes\": %" PRIu64 ", \"unreadable_bytes\": %" PRIu64
	       ", \"unreadable_sectors\": %" PRIu64 ", \"half_erased_blocks\": %" PRIu64 "}\n",
	       telling.bytes[FB_KEPT], telling.bytes[FB_LOST], telling.bytes[FB_UNREADABLE],
	       fb_unreadable_sectors(medium), fb_half_erased_blocks(medium));
	return state_file_save(files->state, medium);
}
