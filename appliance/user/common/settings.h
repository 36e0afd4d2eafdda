/* SPDX-License-Identifier: Apache-2.0 */
/* The appliance's settings: lines of words, which `flashbed nas build` generates from a TOML file */
#ifndef SETTINGS_H
#define SETTINGS_H

#define SETTINGS "/etc/nas.conf"

/* Calls `take` with each line that is not empty. A missing file counts as empty, and is logged. */
void settings_read(const char *file, void (*take)(void *context, const char *line), void *context);

#endif
