/* SPDX-License-Identifier: Apache-2.0 */
/* Executes one line of the settings */
#ifndef SETTLE_H
#define SETTLE_H

void settle_line(void *unused, const char *line);
/* Waits up to `wait_ms` for an address, if DHCP has to supply it; false if none came */
int settle_wait_address(int wait_ms);

#endif
