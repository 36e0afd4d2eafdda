/* SPDX-License-Identifier: Apache-2.0 */
/* What the appliance is told: lines of words, which `flashbed nas build` makes of a TOML file */
#ifndef SETTINGS_H
#define SETTINGS_H

#define SETTINGS "/etc/nas.conf"

/* Calls `take` with each line that is not empty. A file that is not there has none, and that is logged. */
void settings_read(const char *file, void (*take)(void *context, const char *line), void *context);

#endif
