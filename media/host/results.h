/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Prints the results of a replay to stdout: a table, or JSON */
#ifndef RESULTS_H
#define RESULTS_H

#include "player.h"

void results_print(const struct fb_medium *medium, struct played *played, bool json);

#endif
