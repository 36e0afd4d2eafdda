/* SPDX-License-Identifier: Apache-2.0 */
/* The log: lines in the kernel's log, which keeps their order and is forwarded as a whole */
#ifndef LOG_H
#define LOG_H

/* Sets the prefix of each line. Without /dev/kmsg lines go to standard error. */
void log_open(const char *name);

__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/*
 * For events that an untrusted client can cause: at most LOG_UNTRUSTED_MAX lines a minute. The next line after a minute
 * reports how many were dropped.
 */
enum { LOG_UNTRUSTED_MAX = 20 };
__attribute__((format(printf, 1, 2))) void log_untrusted(const char *format, ...);

#endif
