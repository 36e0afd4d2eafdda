/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to a server and back, over UDP or TCP. Nothing here waits. */
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
	int error; /* why it is closed, or why the last datagram came back: errno */
	/* TCP only: what is not sent yet; of what has come, how much */
	uint8_t *waiting;
	size_t waiting_size, waiting_from, waiting_to;
	uint8_t *record; /* 4 bytes of mark, then the fragment, behind those before it */
	size_t record_length, got;
	bool in_fragment, last_fragment;
	size_t fragment_left;
};

void channel_prepare(struct channel *channel, bool tcp, const struct sockaddr_in *to);

/* UDP is open at once. False: it is closed, and error says why. */
bool channel_open(struct channel *channel);
void channel_close(struct channel *channel);
/* Gives its memory back too */
void channel_end(struct channel *channel);

/* Of poll() */
short channel_events(const struct channel *channel);
/* After poll() said that it is writable: a connection is made, waiting bytes go out. True: it has just become open. */
bool channel_writable(struct channel *channel);

/* False: it is not open. A datagram may be lost, a broken connection closes: a caller hears of neither here. */
bool channel_send(struct channel *channel, const uint8_t *message, size_t length);

/* The next message that has come: good until the next call. NULL: there is none now; the state may have changed. */
const uint8_t *channel_receive(struct channel *channel, size_t *length);

#endif
