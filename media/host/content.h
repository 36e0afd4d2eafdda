/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The content of a new medium */
#ifndef CONTENT_H
#define CONTENT_H

#include "fb_medium.h"

/*
 * Writes the file that lies beside the state of a medium nobody has used. Of a raw chip: all 0xff, but for the marks of
 * blocks that are bad from the factory; of any other medium: a hole. False: a message is on stderr.
 */
bool content_create(const char *path, const struct fb_medium *medium);

#endif
