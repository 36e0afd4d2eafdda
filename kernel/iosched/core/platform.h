/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cores' interface to their environment: Linux's own headers in the kernel; on the host,
 * host_linux/ supplies the names that the cores use. No other header of the cores depends on where
 * it is compiled.
 */
#ifndef IOSCHED_PLATFORM_H
#define IOSCHED_PLATFORM_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rbtree.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "../../host_linux/linux.h"
#endif

#define IOS_NSEC_PER_USEC	1000ULL
#define IOS_NSEC_PER_MSEC	1000000ULL

/* "Never", as a time; wake times and deadlines are compared with it */
#define IOS_NEVER		(~0ULL)

#endif
