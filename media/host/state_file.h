/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A medium's state in a file */
#ifndef STATE_FILE_H
#define STATE_FILE_H

#include "fb_medium.h"

/*
 * Writes a new state, in a file with a power of two of bytes: to a temporary file beside it, which then takes its name.
 * False: a message is on stderr.
 */
bool state_file_create(const char *path, const struct fb_params *params);

/* Writes the state as it is in memory, in the same way */
bool state_file_save(const char *path, const struct fb_medium *medium);

/* A new medium in memory alone. NULL: a message is on stderr. */
struct fb_medium *state_file_make(const struct fb_params *params);

/* Maps a state; changes stay in memory. NULL: a message is on stderr. */
struct fb_medium *state_file_open(const char *path);

#endif
