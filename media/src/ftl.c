// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ftl.h"

static const struct fb_ftl *const layers[FB_FTL_COUNT] = {
	[FB_FTL_PAGE] = &fb_ftl_page,
};

const struct fb_ftl *fb_ftl(const struct fb_params *params)
{
	return layers[params->ftl];
}
