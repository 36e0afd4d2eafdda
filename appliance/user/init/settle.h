/* SPDX-License-Identifier: Apache-2.0 */
/* What the first process does with one line of the settings */
#ifndef SETTLE_H
#define SETTLE_H

void settle_line(void *unused, const char *line);
/* Waits up to `wait_ms` for an address of the network, if DHCP has to bring it; false if none came */
int settle_wait_address(int wait_ms);

#endif
