/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Prints as JSON on stdout: a medium, and the lists of parameters and counters */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "fb_medium.h"

void describe_params(void);
void describe_counters(void);
void describe_medium(const struct fb_medium *medium);

/* Prints the members of an object, without a trailing comma */
void describe_counters_of(const struct fb_medium *medium, const struct fb_counters *counters);
void describe_wear_of(const struct fb_medium *medium);

#endif
