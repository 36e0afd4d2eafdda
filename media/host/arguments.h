/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Parameters from the command line: "page_bytes=2048 kind=flash ..." */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "fb_params.h"

/* On failure prints the key and its range to stderr and returns false */
bool arguments_read(int count, char **arguments, struct fb_params *params);

#endif
