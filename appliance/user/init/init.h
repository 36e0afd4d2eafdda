/* SPDX-License-Identifier: Apache-2.0 */
/* The first process: executes the lines of /etc/nas.conf in order, and keeps services running */
#ifndef INIT_H
#define INIT_H

int init_main(int count, char **arguments);

#endif
