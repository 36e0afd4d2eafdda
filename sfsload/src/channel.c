// SPDX-License-Identifier: Apache-2.0
/* Messages over UDP, and over TCP with record marking (RFC 5531, section 11) */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel.h"
#include "message.h"

enum {
	MARK = 4, /* bytes before each fragment */
	RESERVED_FROM = 1023, /* many servers answer only reserved ports, which need root */
	RESERVED_TO = 665,
	SOCKET_BUFFER = 1 << 20, /* room for bursts of datagrams */
};

#define LAST_FRAGMENT UINT32_C(0x80000000)

void channel_prepare(struct channel *channel, bool tcp, const struct sockaddr_in *to)
{
	memset(channel, 0, sizeof(*channel));
	channel->tcp = tcp;
	channel->to = *to;
	channel->fd = -1;
	channel->record = allocate(1, MAX_MESSAGE);
}

void channel_close(struct channel *channel)
{
	if (channel->fd >= 0)
		close(channel->fd);
	channel->fd = -1;
	channel->state = CHANNEL_CLOSED;
	channel->waiting_from = channel->waiting_to = 0;
	channel->got = channel->record_length = channel->fragment_left = 0;
	channel->in_fragment = false;
}

void channel_end(struct channel *channel)
{
	channel_close(channel);
	free(channel->waiting);
	free(channel->record);
	channel->waiting = channel->record = NULL;
}

static void broken(struct channel *channel, int error)
{
	channel_close(channel);
	channel->error = error;
}

/* On failure it is any port, and the server decides */
static void take_reserved_port(int fd)
{
	struct sockaddr_in from = { .sin_family = AF_INET };

	if (geteuid())
		return;
	for (int port = RESERVED_FROM; port >= RESERVED_TO; port--) {
		from.sin_port = htons((uint16_t)port);
		if (!bind(fd, (struct sockaddr *)&from, sizeof(from)) || errno != EADDRINUSE)
			return;
	}
}

bool channel_open(struct channel *channel)
{
	int on = 1, room = SOCKET_BUFFER;
	int type = (channel->tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;

	channel->fd = socket(AF_INET, type, 0);
	if (channel->fd < 0)
		end_with(EXIT_HOST, "socket: %s", strerror(errno));
	if (channel->tcp)
		setsockopt(channel->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	else
		setsockopt(channel->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	take_reserved_port(channel->fd);
	if (!connect(channel->fd, (struct sockaddr *)&channel->to, sizeof(channel->to))) {
		channel->state = CHANNEL_OPEN;
	} else if (errno == EINPROGRESS) {
		channel->state = CHANNEL_CONNECTING;
	} else {
		broken(channel, errno);
		return false;
	}
	return true;
}

short channel_events(const struct channel *channel)
{
	if (channel->state == CHANNEL_CONNECTING)
		return POLLOUT;
	return channel->waiting_to > channel->waiting_from ? POLLIN | POLLOUT : POLLIN;
}

static void send_waiting(struct channel *channel)
{
	while (channel->state == CHANNEL_OPEN && channel->waiting_from < channel->waiting_to) {
		ssize_t sent = send(channel->fd, channel->waiting + channel->waiting_from,
				    channel->waiting_to - channel->waiting_from, MSG_NOSIGNAL);

		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (sent < 0 && errno != EINTR)
			broken(channel, errno);
		else if (sent > 0)
			channel->waiting_from += (size_t)sent;
	}
	channel->waiting_from = channel->waiting_to = 0;
}

bool channel_writable(struct channel *channel)
{
	bool was_connecting = channel->state == CHANNEL_CONNECTING;
	int error = 0;
	socklen_t size = sizeof(error);

	if (was_connecting) {
		getsockopt(channel->fd, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error)
			broken(channel, error);
		else
			channel->state = CHANNEL_OPEN;
	}
	if (channel->tcp)
		send_waiting(channel);
	return was_connecting && channel->state == CHANNEL_OPEN;
}

static void make_room(struct channel *channel, size_t length)
{
	if (channel->waiting_from) {
		memmove(channel->waiting, channel->waiting + channel->waiting_from,
			channel->waiting_to - channel->waiting_from);
		channel->waiting_to -= channel->waiting_from;
		channel->waiting_from = 0;
	}
	if (channel->waiting_size - channel->waiting_to >= length)
		return;
	channel->waiting_size = 2 * channel->waiting_size + length;
	channel->waiting = realloc(channel->waiting, channel->waiting_size);
	if (!channel->waiting)
		end_with(EXIT_HOST, "no memory for %zu bytes that wait to be sent", channel->waiting_size);
}

bool channel_send(struct channel *channel, const uint8_t *message, size_t length)
{
	uint32_t mark = htonl(LAST_FRAGMENT | (uint32_t)length);

	if (channel->state != CHANNEL_OPEN)
		return false;
	if (!channel->tcp) {
		if (send(channel->fd, message, length, MSG_NOSIGNAL) < 0)
			channel->error = errno;
		return true;
	}
	make_room(channel, MARK + length);
	memcpy(channel->waiting + channel->waiting_to, &mark, MARK);
	memcpy(channel->waiting + channel->waiting_to + MARK, message, length);
	channel->waiting_to += MARK + length;
	send_waiting(channel);
	return true;
}

/* Reads up to `wanted` bytes in all; true if they are all there */
static bool fill(struct channel *channel, size_t wanted)
{
	while (channel->got < wanted) {
		ssize_t got = recv(channel->fd, channel->record + channel->record_length + channel->got,
				   wanted - channel->got, 0);

		if (got > 0) {
			channel->got += (size_t)got;
		} else if (!got) {
			broken(channel, ECONNRESET);
			return false;
		} else if (errno != EINTR) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				broken(channel, errno);
			return false;
		}
	}
	channel->got = 0;
	return true;
}

/* The mark is stored where its fragment will overwrite it */
static bool read_mark(struct channel *channel)
{
	uint32_t mark;

	if (!fill(channel, MARK))
		return false;
	memcpy(&mark, channel->record + channel->record_length, MARK);
	mark = ntohl(mark);
	channel->last_fragment = mark & LAST_FRAGMENT;
	channel->fragment_left = mark & ~LAST_FRAGMENT;
	channel->in_fragment = true;
	if (!channel->fragment_left && !channel->last_fragment) {
		broken(channel, EPROTO); /* empty fragments could go on forever */
		return false;
	}
	/* The mark of the next fragment needs room too */
	if (channel->fragment_left > MAX_MESSAGE - MARK - channel->record_length) {
		broken(channel, EMSGSIZE);
		return false;
	}
	return true;
}

static const uint8_t *receive_record(struct channel *channel, size_t *length)
{
	for (;;) {
		if (!channel->in_fragment && !read_mark(channel))
			return NULL;
		if (!fill(channel, channel->fragment_left))
			return NULL;
		channel->in_fragment = false;
		channel->record_length += channel->fragment_left;
		if (channel->last_fragment) {
			*length = channel->record_length;
			channel->record_length = 0;
			return channel->record;
		}
	}
}

const uint8_t *channel_receive(struct channel *channel, size_t *length)
{
	ssize_t got;

	if (channel->state != CHANNEL_OPEN)
		return NULL;
	if (channel->tcp)
		return receive_record(channel, length);
	do
		got = recv(channel->fd, channel->record, MAX_MESSAGE, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			channel->error = errno;
		return NULL;
	}
	*length = (size_t)got;
	return channel->record;
}
