/* SPDX-License-Identifier: Apache-2.0 */
/* The one log: lines among the kernel's own, so that their order is kept and one place hands them on */
#ifndef LOG_H
#define LOG_H

/* The name before each line. Without /dev/kmsg lines go to standard error. */
void log_open(const char *name);

__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/*
 * For what an untrusted client can cause: at most LOG_UNTRUSTED_MAX lines in a minute; how many were left out is
 * told with the first line after it.
 */
enum { LOG_UNTRUSTED_MAX = 20 };
__attribute__((format(printf, 1, 2))) void log_untrusted(const char *format, ...);

#endif
