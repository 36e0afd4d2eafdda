/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as clients make them, and the programs with doubles of the kernel behind them */
#ifndef CALLS_H
#define CALLS_H

#include "mount.h"
#include "portmap.h"
#include "rpc.h"
#include "statd.h"

struct bed {
	struct exports exports;
	struct portmap map;
	struct mount mounts;
	struct statd statd;
	struct rpc_program programs[3];
	struct rpc_caller caller;
	uint8_t reply[RPC_REPLY_MOST];
	size_t reply_length;
};

extern unsigned bed_told; /* how often the status monitor told a listener */

/* Exports /data to 10.0.2.0/24 from reserved ports, /open to the same from any */
void bed_begin(struct bed *bed);

/* A call's header, with AUTH_SYS as Linux sends it */
struct xdr_out call_begin(uint8_t *message, size_t size, uint32_t program, uint32_t version, uint32_t procedure);
/* Hands it to the program, and gives back the results; `result` is that of RPC, 99: no reply at all */
struct xdr_in call(struct bed *bed, const struct xdr_out *message, uint32_t *result);

#endif
