/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are to run as long as the machine does: started, and started again */
#ifndef SERVICES_H
#define SERVICES_H

#include <stdbool.h>

enum { SERVICES_MOST = 8, SERVICE_WORDS = 12 };

/* Takes "PATH ARGUMENT ...", as words. `console`: it has the console as its terminal, and its input and output. */
void service_add(const char *line, bool console);
/* The same for a function of this program */
void service_add_function(const char *name, void (*run)(void));

/* Starts what is not running and may: a service that ends soon waits a second. */
void services_start(void);
/* A child has ended */
void services_ended(int pid);
/* Asks all processes to end, then ends them */
void services_stop(void);

#endif
