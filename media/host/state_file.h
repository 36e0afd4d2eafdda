/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A medium's state in a file */
#ifndef STATE_FILE_H
#define STATE_FILE_H

#include "fb_medium.h"

/*
 * Writes a new state to a file whose size is a power of two, through a temporary file that is then renamed. On failure
 * prints a message to stderr and returns false.
 */
bool state_file_create(const char *path, const struct fb_params *params);

/* Saves the state from memory, in the same way */
bool state_file_save(const char *path, const struct fb_medium *medium);

/* Makes a new medium in memory only. NULL: a message is on stderr. */
struct fb_medium *state_file_make(const struct fb_params *params);

/* Maps a state; changes stay in memory. NULL: a message is on stderr. */
struct fb_medium *state_file_open(const char *path);

#endif
