/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting a layer: what lies on the flash is found from the tags (scan.h), and the core's tables
 * are made from it.
 *
 * Of several copies of a page the one with the highest sequence counts. Page-mapped: blocks that
 * are neither full nor torn stay open. Log-block layers: a logical group that lies in several
 * blocks is merged into one, so that no log is left; a merge that a cut interrupted is undone
 * first.
 */
#ifndef SFTL_RESTART_H
#define SFTL_RESTART_H

#include "layer.h"

/* Of a layer whose medium was just made. Errors as sftl_start() has them. */
int sftl_restart(struct sftl *layer);

#endif
