/* SPDX-License-Identifier: Apache-2.0 */
/* Hands the log on to a syslog server over UDP (RFC 3164), line by line as it comes. For ever. */
#ifndef FORWARD_H
#define FORWARD_H

#include <stddef.h>
#include <stdint.h>

/* `server`: host's byte order */
void forward_log(uint32_t server, const char *hostname);

/* A record of /dev/kmsg ("PRIORITY,...;TEXT\n ...") as a message for a syslog server; its length, 0: no such record */
size_t forward_message(const char *record, const char *hostname, char *message, size_t size);

#endif
