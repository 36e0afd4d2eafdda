// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ftl.h"

static const struct fb_ftl *const layers[FB_FTL_COUNT] = {
	[FB_FTL_PAGE] = &fb_ftl_page,
	[FB_FTL_BAST] = &fb_ftl_bast,
	[FB_FTL_FAST] = &fb_ftl_fast,
	[FB_FTL_DFTL] = &fb_ftl_dftl,
};

const struct fb_ftl *fb_ftl(const struct fb_params *params)
{
	return layers[params->ftl];
}
