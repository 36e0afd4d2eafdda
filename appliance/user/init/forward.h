/* SPDX-License-Identifier: Apache-2.0 */
/* Forwards the log to a syslog server over UDP (RFC 3164), line by line, forever. */
#ifndef FORWARD_H
#define FORWARD_H

#include <stddef.h>
#include <stdint.h>

/* `server`: host byte order */
void forward_log(uint32_t server, const char *hostname);

/*
 * Converts a record of /dev/kmsg ("PRIORITY,...;TEXT\n ...") to a syslog message; returns its length, 0 if the record
 * is malformed
 */
size_t forward_message(const char *record, const char *hostname, char *message, size_t size);

#endif
