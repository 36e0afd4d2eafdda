/* SPDX-License-Identifier: Apache-2.0 */
/* For a console without a shell: executes the lines "poweroff", "reboot" and "halt", forever. */
#ifndef KEYBOARD_H
#define KEYBOARD_H

void keyboard_run(void);

/* The signal to the first process for a line; 0: no such command */
int keyboard_signal(const char *line);

#endif
