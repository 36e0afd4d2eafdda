/* SPDX-License-Identifier: Apache-2.0 */
/* Loads kernel modules */
#ifndef MODULES_H
#define MODULES_H

/* Loads a kernel module with its parameters, unless it is loaded already. Logs a failure. */
void module_load(const char *path, const char *parameters);

#endif
