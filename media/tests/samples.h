/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Small media with round numbers, so that times can be computed by hand */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "fb_params.h"

/* 16 blocks of 4 pages of 2 KiB, one die: a page takes 20,480 ns on the link and 51,200 ns on the channel */
struct fb_params sample_flash(void);

/* The same with 24 blocks of two bits a cell, and an SLC cache of three blocks of two pages; 100 us a program there */
struct fb_params sample_slc_flash(void);

/*
 * 10 ms a revolution, 64 cylinders in 2 zones of 100 and 50 sectors a track, one head; no command or link time, no
 * read-ahead, no write cache. A seek over a third of the stroke takes 4 ms.
 */
struct fb_params sample_disk(void);

struct fb_params sample_null(void);

#endif
