/* SPDX-License-Identifier: Apache-2.0 */
/* The first process: carries out the lines of /etc/nas.conf in their order, and keeps services running */
#ifndef INIT_H
#define INIT_H

int init_main(int count, char **arguments);

#endif
