/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run as long as the machine does: started, and restarted */
#ifndef SERVICES_H
#define SERVICES_H

#include <stdbool.h>

enum { SERVICES_MOST = 8, SERVICE_WORDS = 12 };

/* Adds "PATH ARGUMENT ...". `console`: the console is its terminal, input and output. */
void service_add(const char *line, bool console);
/* Adds a function of this program */
void service_add_function(const char *name, void (*run)(void));

/* Starts services that are not running; one that ends soon is delayed by a second. */
void services_start(void);
/* Handles the end of a child */
void services_ended(int pid);
/* Asks all processes to terminate, then kills them */
void services_stop(void);

#endif
