// SPDX-License-Identifier: Apache-2.0
/* Synchronous calls */
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "clock.h"
#include "message.h"

struct waiting {
	struct client *client;
	bool answered;
	enum rpc_outcome outcome;
};

void client_start(struct client *client, const struct calls_settings *settings, const char *what)
{
	client->what = what;
	client->reply = allocate(1, MAX_MESSAGE);
	calls_start(&client->calls, settings);
}

void client_end(struct client *client)
{
	calls_end(&client->calls);
	free(client->reply);
}

static void answered(void *context, enum rpc_outcome outcome, struct xdr_in *results, const struct call_times *times)
{
	struct waiting *waiting = context;
	size_t length = results->size - results->used;

	(void)times;
	waiting->answered = true;
	waiting->outcome = outcome;
	memcpy(waiting->client->reply, results->bytes + results->used, length);
	waiting->client->results = (struct xdr_in) { .bytes = waiting->client->reply, .size = length };
}

/* Before the server's first answer, a refused connection is final */
static void end_if_refused(const struct client *client)
{
	const struct channel *channel = &client->calls.channel;

	if (channel->error && !client->results.bytes)
		end_with(EXIT_NO_SERVER, "%s: %s", client->what, strerror(channel->error));
}

struct xdr_in *client_ask(struct client *client)
{
	struct waiting waiting = { .client = client };

	calls_send(&client->calls, answered, &waiting);
	while (!waiting.answered) {
		end_if_refused(client);
		calls_wait(&client->calls, NEVER);
		if (client->calls.given_up)
			end_with(EXIT_NO_SERVER, "%s: no answer within %llu s", client->what,
				 (unsigned long long)(client->calls.give_up_ns / NS_IN_S));
	}
	if (waiting.outcome == RPC_MALFORMED)
		end_with(EXIT_WRONG, "%s: answers with something that is no reply of RPC", client->what);
	if (waiting.outcome != RPC_SUCCESS)
		end_with(EXIT_NO_SERVER, "%s: refuses: %s", client->what, rpc_outcome_name(waiting.outcome));
	return &client->results;
}

void client_nfs(struct client *client, const struct nfs_request *request, struct nfs_answer *answer)
{
	struct rpc_procedure procedure = {
		NFS_PROGRAM, client->nfs->version, (uint32_t)client->nfs->procedures[request->op],
	};

	client->nfs->put(calls_begin(&client->calls, &procedure), request);
	if (!client->nfs->get(client_ask(client), request->op, answer))
		end_with(EXIT_WRONG, "%s: the answer to %s is not as the protocol has it", client->what,
			 op_name(request->op));
}

void client_must(struct client *client, const struct nfs_request *request, const char *about,
		 struct nfs_answer *answer)
{
	client_nfs(client, request, answer);
	if (answer->status != NFS_OK)
		end_with(EXIT_NO_SERVER, "%s: %s of %s: %s", client->what, op_name(request->op), about,
			 nfs_status_name(answer->status));
}
