/* SPDX-License-Identifier: Apache-2.0 */
/* For a console without a shell: carries out the lines "poweroff", "reboot" and "halt" that come there. For ever. */
#ifndef KEYBOARD_H
#define KEYBOARD_H

void keyboard_run(void);

/* The signal that the first process takes for a line; 0: the line is none of those */
int keyboard_signal(const char *line);

#endif
