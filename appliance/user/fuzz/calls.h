/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes to the appliance from outside, made of numbers: calls of portmapper, mount protocol and status monitor,
 * lines of the kernel, answers of DHCP; as they should be, changed, and cut anywhere.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>

/* The next number, below `below`, which is not 0. Each fuzzer has its own. */
uint32_t number(uint32_t below);

/* An appliance that nobody has called yet */
void calls_start(void);

/* Records of one connection, a datagram, a line or a lease. Draws a number at least. */
void calls_one(void);

#endif
