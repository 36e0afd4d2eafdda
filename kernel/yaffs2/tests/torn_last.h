/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one kind of torn page that a mount of pages of 512 bytes cannot tell from a sound one: in the last place of its
 * block, written where nothing was, with whole tags, and data that looks corrected. All of it is judged on the flash as
 * the cut has left it, and by the tests' own reading of that, not by what the core says.
 */
#ifndef Y2_TORN_LAST_H
#define Y2_TORN_LAST_H

#include "ram_flash.h"

/* True: the program that the cut tore has left such a page */
bool torn_last_is_there(struct ram_flash *at_cut);

/* The same flash without it; nothing else is changed */
void torn_last_take_out(struct ram_flash *at_cut);

#endif
