/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A rotating disk: an arm that seeks, a spindle that never stops, and one track buffer.
 *
 * Simplifications: no write cache, so a write is done when it is on the platter; requests are served in the order in
 * which they come; no spare sectors; the whole request arrives over the link before it is written.
 */
#ifndef FB_DISK_H
#define FB_DISK_H

#include "disk_geometry.h"
#include "fb_medium.h"

/*
 * What is in the buffer, and the stream of sectors that goes on into it after a read. Everything in [start, end) can be
 * had from available_ns on. The head passes end at stream_ns, and reads on to limit if nobody moves it; then it waits.
 * The arm leaving its place ends all that: the next read starts a new segment.
 */
struct fb_segment {
	u64 start;
	u64 end;
	u64 limit;		/* sectors; start == limit: there is none */
	u64 available_ns;
	u64 stream_ns;
};

struct fb_disk {
	struct fb_geometry geometry;
	struct fb_track arm;
	u64 arm_free_ns;
	struct fb_segment segment;
};

bool fb_disk_check(const struct fb_params *params, struct fb_complaint *complaint);
void fb_disk_init(struct fb_medium *m);
bool fb_disk_undamaged(const struct fb_medium *m);
void fb_disk_power_on(struct fb_medium *m);
u64 fb_disk_submit(struct fb_medium *m, const struct fb_request *request, u64 command_done_ns);
const char *fb_disk_verify(const struct fb_medium *m);

#endif
