/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and SIGTERM */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* One of them is told on stderr, then ends the program as if it were not caught; what is ignored stays so */
void interrupt_tell(void);

/* In a load process: its parent gets the signal too, and ends it */
void interrupt_ignore(void);

#endif
