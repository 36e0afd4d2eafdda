// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The translation layers by the values of the parameter "ftl" */
#include "ftl.h"

const struct fb_ftl *const fb_ftls[FB_FTL_COUNT] = {
	[FB_FTL_PAGE] = &fb_ftl_page,
	[FB_FTL_BAST] = &fb_ftl_bast,
	[FB_FTL_FAST] = &fb_ftl_fast,
	[FB_FTL_DFTL] = &fb_ftl_dftl,
};
