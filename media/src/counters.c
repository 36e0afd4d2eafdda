// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The counters by their number: name, unit, meaning, kinds */
#include "fb_counters.h"

#define RULE(counter, of_kinds, of_unit, text) \
	{ .name = #counter, .unit = of_unit, .meaning = text, .kinds = of_kinds },

static const struct fb_counter_rule rules[FB_COUNTER_COUNT] = { FB_COUNTERS(RULE) };

const struct fb_counter_rule *fb_counter_rule(enum fb_counter counter)
{
	return &rules[counter];
}
