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

/* A raw chip as K9F1208U0B (15 us, 200 us, 2 ms), with eight of its 4,096 blocks */
struct fb_params sample_chip(void);

/* As MT29F2G08AAC: 25 us, 300 us, 2 ms, 3 us between the registers */
struct fb_params sample_large_chip(void);

/* As MT29F64G08CBAAA: 50 us, 1.3 ms, 3 ms, two planes with 1 us from one to the other */
struct fb_params sample_mlc_chip(void);

#endif
