/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers that nearly every file of the target's library includes. They are compiled once, and come before the
 * first line of each file.
 */
#ifndef EXEC_LAB_TARGET_H
#define EXEC_LAB_TARGET_H

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"

#endif
