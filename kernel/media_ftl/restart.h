/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The start of a layer: reads the tags on the flash (scan.h) and builds the core's tables.
 *
 * Of several copies of a page, the one with the highest sequence is current. Page-mapped: blocks
 * that are neither full nor torn stay open. Log-block layers: a logical group in several blocks is
 * merged into one, so that no log is left; interrupted merges are undone first.
 */
#ifndef SFTL_RESTART_H
#define SFTL_RESTART_H

#include "layer.h"

/* Restarts a layer whose medium was just made. Errors: see sftl_start(). */
int sftl_restart(struct sftl *layer);

#endif
