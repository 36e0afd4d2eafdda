/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configures the interface by DHCP, and renews the lease. Runs forever; writes a byte to `told` at the first address.
 */
#ifndef DHCP_H
#define DHCP_H

void dhcp_run(const char *interface, int told);

#endif
