/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status monitor (X/Open XNFS, program 100024, version 1), as far as the kernel's lock manager needs it. lockd
 * registers the clients for which it holds locks, and is notified when such a client restarts, so that it drops their
 * locks. The registrations are in memory only: after a restart of the server, clients are not told to reclaim their
 * locks.
 */
#ifndef STATD_H
#define STATD_H

#include "rpc.h"

enum { STATD_PROGRAM = 100024, STATD_WATCHED = 256, STATD_NAME = 255, STATD_PRIVATE = 16, STATD_CALL = 512 };

struct statd {
	struct watched {
		uint32_t address;
		uint32_t program, version, procedure; /* the listener's callback */
		uint8_t private[STATD_PRIVATE];	      /* returned to it */
	} watched[STATD_WATCHED];
	size_t count;
	uint32_t xid;
	/* Sends a call to a local program, over UDP. Tests replace it. */
	void (*tell)(void *context, uint32_t program, uint32_t version, const uint8_t *call, size_t length);
	void *context;
};

rpc_procedure statd_procedure; /* state: struct statd */

#endif
