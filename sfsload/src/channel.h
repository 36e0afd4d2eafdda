/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to and from a server, over UDP or TCP. No function blocks. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_MESSAGE = 65536 };

enum channel_state { CHANNEL_CLOSED, CHANNEL_CONNECTING, CHANNEL_OPEN };

struct channel {
	enum channel_state state;
	bool tcp;
	int fd;
	struct sockaddr_in to;
	int error; /* errno: the reason why it is closed, or why the last datagram was rejected */
	/* TCP only: unsent bytes; the state of the received record */
	uint8_t *waiting;
	size_t waiting_size, waiting_from, waiting_to;
	uint8_t *record; /* a mark of 4 bytes, then the fragment, behind earlier fragments */
	size_t record_length, got;
	bool in_fragment, last_fragment;
	size_t fragment_left;
};

void channel_prepare(struct channel *channel, bool tcp, const struct sockaddr_in *to);

/* UDP is open at once. False: it is closed, and `error` is the reason. */
bool channel_open(struct channel *channel);
void channel_close(struct channel *channel);
/* Closes the channel and frees its memory */
void channel_end(struct channel *channel);

/* The events for poll() */
short channel_events(const struct channel *channel);
/* Call it when poll() reports writability: completes a connection, sends waiting bytes. True: it has just opened. */
bool channel_writable(struct channel *channel);

/* False: it is not open. Lost datagrams and broken connections are not reported here. */
bool channel_send(struct channel *channel, const uint8_t *message, size_t length);

/* The next received message, valid until the next call. NULL: there is none; the state may have changed. */
const uint8_t *channel_receive(struct channel *channel, size_t *length);

#endif
