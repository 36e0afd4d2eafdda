// SPDX-License-Identifier: Apache-2.0
/* Pending calls: found by xid, retransmitted on time */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "clock.h"
#include "message.h"

#define RECONNECT_NS (100 * NS_IN_MS)

struct call {
	struct call *next_in_bucket, *before, *behind; /* the latter two: in its list */
	call_done *done;
	void *context;
	struct call_times times;
	uint64_t again_ns;
	uint32_t xid;
	bool was_sent; /* it was sent to the server once */
	size_t length;
	uint8_t message[];
};

void calls_start(struct calls *calls, const struct calls_settings *settings)
{
	memset(calls, 0, sizeof(*calls));
	channel_prepare(&calls->channel, settings->tcp, &settings->to);
	calls->who = settings->who;
	calls->timeout_ns = settings->timeout_ns;
	calls->give_up_ns = settings->give_up_ns;
	calls->next_xid = settings->first_xid;
}

static struct call_list *list_of(struct calls *calls, const struct call *call)
{
	uint32_t step = call->times.sendings - 1;

	return &calls->by_wait[step < TIMEOUT_STEPS ? step : TIMEOUT_STEPS - 1];
}

static uint64_t wait_of(const struct calls *calls, const struct call *call)
{
	uint32_t step = call->times.sendings - 1;

	return calls->timeout_ns << (step < TIMEOUT_STEPS ? step : TIMEOUT_STEPS - 1);
}

static void append(struct call_list *list, struct call *call)
{
	call->before = list->last;
	call->behind = NULL;
	*(list->last ? &list->last->behind : &list->first) = call;
	list->last = call;
}

static void take_out(struct call_list *list, struct call *call)
{
	*(call->before ? &call->before->behind : &list->first) = call->behind;
	*(call->behind ? &call->behind->before : &list->last) = call->before;
}

static struct call **bucket_of(struct calls *calls, uint32_t xid)
{
	return &calls->buckets[xid % CALL_BUCKETS];
}

static struct call *found(struct calls *calls, uint32_t xid)
{
	struct call **at = bucket_of(calls, xid), *call;

	while (*at && (*at)->xid != xid)
		at = &(*at)->next_in_bucket;
	call = *at;
	if (!call)
		return NULL;
	*at = call->next_in_bucket;
	take_out(list_of(calls, call), call);
	calls->pending--;
	return call;
}

struct xdr_out *calls_begin(struct calls *calls, const struct rpc_procedure *procedure)
{
	calls->out = (struct xdr_out) { .bytes = calls->message, .size = sizeof(calls->message) };
	rpc_put_call(&calls->out, calls->next_xid, procedure, &calls->who);
	return &calls->out;
}

static void send_call(struct calls *calls, struct call *call, uint64_t now)
{
	call->times.sendings++;
	call->again_ns = now + wait_of(calls, call);
	append(list_of(calls, call), call);
	calls->retransmissions += call->was_sent;
	if (channel_send(&calls->channel, call->message, call->length))
		call->was_sent = true;
}

/* TCP: pending calls belong to the old connection. Lists go from the longest wait down, so that none is sent twice. */
static void resend_all(struct calls *calls, uint64_t now)
{
	for (int i = TIMEOUT_STEPS - 1; i >= 0; i--) {
		struct call_list all = calls->by_wait[i];

		calls->by_wait[i] = (struct call_list) { NULL, NULL };
		for (struct call *call = all.first, *next; call; call = next) {
			next = call->behind;
			send_call(calls, call, now);
		}
	}
}

static void connected(struct calls *calls, uint64_t now)
{
	calls->reconnects += calls->was_connected;
	calls->was_connected = true;
	resend_all(calls, now);
}

/* Reopens a broken connection: at once the first time, then after a delay */
static void open_channel(struct calls *calls, uint64_t now)
{
	if (calls->channel.state != CHANNEL_CLOSED || now < calls->reconnect_ns)
		return;
	calls->reconnect_ns = now + RECONNECT_NS;
	if (channel_open(&calls->channel) && calls->channel.tcp && calls->channel.state == CHANNEL_OPEN)
		connected(calls, now);
}

uint64_t calls_send(struct calls *calls, call_done *done, void *context)
{
	struct call *call = allocate(1, sizeof(*call) + calls->out.used);
	struct call **bucket = bucket_of(calls, calls->next_xid);
	uint64_t now = now_ns();

	if (calls->out.full)
		end_with(EXIT_HOST, "a message does not fit: a fault of this program");
	if (!calls->pending++)
		calls->heard_ns = now;
	open_channel(calls, now);
	call->done = done;
	call->context = context;
	call->xid = calls->next_xid++;
	call->length = calls->out.used;
	memcpy(call->message, calls->message, call->length);
	call->next_in_bucket = *bucket;
	*bucket = call;
	call->times.sent_ns = now;
	send_call(calls, call, now);
	return now;
}

static void resend(struct calls *calls, struct call_list *list, struct call *call, uint64_t now)
{
	take_out(list, call);
	send_call(calls, call, now);
}

/* UDP */
static void resend_late(struct calls *calls, uint64_t now)
{
	for (int i = TIMEOUT_STEPS - 1; i >= 0; i--) {
		struct call_list *list = &calls->by_wait[i];

		while (list->first && list->first->again_ns <= now)
			resend(calls, list, list->first, now);
	}
}

static void dispatch(struct calls *calls, const uint8_t *message, size_t length, uint64_t now)
{
	struct xdr_in in = { .bytes = message, .size = length };
	uint32_t xid = xdr_get_u32(&in);
	struct call *call = in.bad ? NULL : found(calls, xid);
	enum rpc_outcome outcome;

	if (!call) {
		calls->unknown_replies++; /* such as the second answer to a retransmitted call */
		return;
	}
	calls->heard_ns = now;
	call->times.answered_ns = now;
	outcome = rpc_get_reply(&in);
	call->done(call->context, outcome, &in, &call->times);
	free(call);
}

static uint64_t next_ns(const struct calls *calls, uint64_t until_ns)
{
	uint64_t next = until_ns;

	if (calls->pending && calls->heard_ns + calls->give_up_ns < next)
		next = calls->heard_ns + calls->give_up_ns;
	if (calls->channel.state == CHANNEL_CLOSED && calls->pending && calls->reconnect_ns < next)
		next = calls->reconnect_ns;
	for (int i = 0; !calls->channel.tcp && i < TIMEOUT_STEPS; i++)
		if (calls->by_wait[i].first && calls->by_wait[i].first->again_ns < next)
			next = calls->by_wait[i].first->again_ns;
	return next;
}

static void wait_for(struct calls *calls, uint64_t until_ns)
{
	struct pollfd on = { .fd = calls->channel.fd, .events = channel_events(&calls->channel) };
	uint64_t now = now_ns();
	struct timespec left = timespec_of(until_ns > now ? until_ns - now : 0);

	if (ppoll(&on, 1, until_ns == NEVER ? NULL : &left, NULL) < 0 && errno != EINTR)
		end_with(EXIT_HOST, "poll: %s", strerror(errno));
	if (on.revents & POLLOUT || (on.revents && calls->channel.state == CHANNEL_CONNECTING))
		if (channel_writable(&calls->channel))
			connected(calls, now_ns());
}

void calls_wait(struct calls *calls, uint64_t until_ns)
{
	const uint8_t *message;
	size_t length;
	uint64_t now;

	wait_for(calls, next_ns(calls, until_ns));
	while ((message = channel_receive(&calls->channel, &length)))
		dispatch(calls, message, length, now_ns());
	now = now_ns();
	if (calls->pending)
		open_channel(calls, now);
	if (!calls->channel.tcp)
		resend_late(calls, now);
	calls->given_up = calls->pending && now - calls->heard_ns >= calls->give_up_ns;
}

void calls_end(struct calls *calls)
{
	for (int i = 0; i < CALL_BUCKETS; i++)
		for (struct call *call = calls->buckets[i], *next; call; call = next) {
			next = call->next_in_bucket;
			free(call->context);
			free(call);
		}
	channel_end(&calls->channel);
}
