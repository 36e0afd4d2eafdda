/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The content file of a new medium */
#ifndef CONTENT_H
#define CONTENT_H

#include "fb_medium.h"

/*
 * Writes the content file of a new medium. A raw chip's is all 0xff, except for the marks of factory-bad blocks; any
 * other medium's is a hole. On failure prints a message to stderr and returns false.
 */
bool content_create(const char *path, const struct fb_medium *medium);

#endif
