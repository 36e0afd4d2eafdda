// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The kinds of media by the values of the parameter "kind" */
#include "kind.h"

const struct fb_kind_ops *const fb_kinds[FB_KIND_COUNT] = {
	[FB_FLASH] = &fb_kind_flash,
	[FB_DISK] = &fb_kind_disk,
	[FB_NULL] = &fb_kind_null,
	[FB_NAND] = &fb_kind_nand,
};
