/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pending calls to one port of a server. Over UDP an unanswered call is retransmitted with the same xid after the
 * timeout, then after twice that time, and so on up to 64 times it. Over TCP a broken connection is reopened, and all
 * pending calls are sent again. There is one thread, and it waits only in poll().
 */
#ifndef CALLS_H
#define CALLS_H

#include "channel.h"
#include "rpc.h"

enum { TIMEOUT_STEPS = 7, CALL_BUCKETS = 1024 };

struct call_times {
	uint64_t sent_ns, answered_ns; /* first transmission, first answer */
	uint32_t sendings;
};

/* `results` follows the reply's header; its bytes are valid until this returns */
typedef void call_done(void *context, enum rpc_outcome outcome, struct xdr_in *results, const struct call_times *times);

struct call;

/* Calls with the same timeout; the first one is retransmitted next */
struct call_list {
	struct call *first, *last;
};

struct calls {
	struct channel channel;
	struct rpc_identity who;
	uint64_t timeout_ns; /* the first timeout, UDP */
	uint64_t give_up_ns; /* the time without any answer after which the server is given up */
	uint32_t next_xid;
	uint64_t pending;
	uint64_t reconnect_ns; /* the time of the next attempt */
	uint64_t heard_ns; /* the last answer, or the first call after all were answered */
	bool given_up, was_connected;
	uint64_t retransmissions, reconnects, unknown_replies;
	struct call_list by_wait[TIMEOUT_STEPS];
	struct call *buckets[CALL_BUCKETS];
	struct xdr_out out; /* the message being built */
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
/* Drops the pending calls */
void calls_end(struct calls *calls);

/* Writes the header of a call; the caller appends the rest */
struct xdr_out *calls_begin(struct calls *calls, const struct rpc_procedure *procedure);
/* Sends the complete message; returns the time */
uint64_t calls_send(struct calls *calls, call_done *done, void *context);

/* Waits until an answer was processed, a call was retransmitted, or until_ns has come */
void calls_wait(struct calls *calls, uint64_t until_ns);

#endif
