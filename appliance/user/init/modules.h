/* SPDX-License-Identifier: Apache-2.0 */
/* Loading of kernel modules */
#ifndef MODULES_H
#define MODULES_H

/* Loads a kernel module with its parameters; one that is loaded already is fine. What fails is logged. */
void module_load(const char *path, const char *parameters);

#endif
