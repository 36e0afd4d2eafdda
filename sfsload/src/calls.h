/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls to one port of a server that are under way. Over UDP one that is not answered is sent again after the timeout,
 * with the same xid, then after twice that time and so on up to 64 times it. Over TCP a broken connection is made anew,
 * and all that is under way is sent again. One thread, and poll() is the only place where it waits.
 */
#ifndef CALLS_H
#define CALLS_H

#include "channel.h"
#include "rpc.h"

enum { TIMEOUT_STEPS = 7, CALL_BUCKETS = 1024 };

struct call_times {
	uint64_t sent_ns, answered_ns; /* the first sending, the first answer */
	uint32_t sendings;
};

/* results stands behind the reply's header, and its bytes are good until this returns */
typedef void call_done(void *context, enum rpc_outcome outcome, struct xdr_in *results, const struct call_times *times);

struct call;

/* Of calls that have the same time to wait, the one that is sent again first is in front */
struct call_list {
	struct call *first, *last;
};

struct calls {
	struct channel channel;
	struct rpc_identity who;
	uint64_t timeout_ns; /* the first, UDP */
	uint64_t give_up_ns; /* so long without any answer, and the server is given up */
	uint32_t next_xid;
	uint64_t pending;
	uint64_t reconnect_ns; /* when to try again */
	uint64_t heard_ns; /* when something was answered, or first asked after all was answered */
	bool given_up, was_connected;
	uint64_t retransmissions, reconnects, unknown_replies;
	struct call_list by_wait[TIMEOUT_STEPS];
	struct call *buckets[CALL_BUCKETS];
	struct xdr_out out; /* the message under construction */
	uint8_t message[16384];
};

struct calls_settings {
	bool tcp;
	struct sockaddr_in to;
	struct rpc_identity who;
	uint64_t timeout_ns, give_up_ns;
	uint32_t first_xid;
};

void calls_start(struct calls *calls, const struct calls_settings *settings);
/* Calls under way are forgotten */
void calls_end(struct calls *calls);

/* The header of a call is written; what follows it the caller puts there */
struct xdr_out *calls_begin(struct calls *calls, const struct rpc_procedure *procedure);
/* The message is complete, and sent. Gives back when. */
uint64_t calls_send(struct calls *calls, call_done *done, void *context);

/* Until something has come and was dealt with, something had to be sent again, or this moment has come */
void calls_wait(struct calls *calls, uint64_t until_ns);

#endif
