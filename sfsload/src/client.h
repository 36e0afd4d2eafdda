/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronous calls, before and after a load. Any failure ends the program. */
#ifndef CLIENT_H
#define CLIENT_H

#include "calls.h"
#include "nfs.h"

struct client {
	struct calls calls;
	const char *what; /* the peer's name in messages: "the portmapper at 127.0.0.1, port 111" */
	const struct nfs_protocol *nfs;
	uint8_t *reply; /* the last reply, from its results on */
	struct xdr_in results;
};

void client_start(struct client *client, const struct calls_settings *settings, const char *what);
void client_end(struct client *client);

/* Sends the call that calls_begin() began; returns its results */
struct xdr_in *client_ask(struct client *client);

/* Accepts any NFS status; the answer's data is valid until the next call */
void client_nfs(struct client *client, const struct nfs_request *request, struct nfs_answer *answer);

/* Accepts NFS_OK only; `about` names the object in messages */
void client_must(struct client *client, const struct nfs_request *request, const char *about,
		 struct nfs_answer *answer);

#endif
