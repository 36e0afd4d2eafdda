/* SPDX-License-Identifier: Apache-2.0 */
/* Gets the interface an address by DHCP, and keeps it. Runs for ever; writes a byte to `told` at the first address. */
#ifndef DHCP_H
#define DHCP_H

void dhcp_run(const char *interface, int told);

#endif
