/* SPDX-License-Identifier: Apache-2.0 */
/* One call after the other: what is asked before and after a load. All that goes wrong ends the program. */
#ifndef CLIENT_H
#define CLIENT_H

#include "calls.h"
#include "nfs.h"

struct client {
	struct calls calls;
	const char *what; /* who is asked, for messages: "the portmapper at 127.0.0.1, port 111" */
	const struct nfs_protocol *nfs;
	uint8_t *reply; /* of the last call, from its results on */
	struct xdr_in results;
};

void client_start(struct client *client, const struct calls_settings *settings, const char *what);
void client_end(struct client *client);

/* The call that calls_begin() began; its results */
struct xdr_in *client_ask(struct client *client);

/* Any status of NFS is good; the answer's data is good until the next call */
void client_nfs(struct client *client, const struct nfs_request *request, struct nfs_answer *answer);

/* Only NFS_OK is good; `about` names what it was about */
void client_must(struct client *client, const struct nfs_request *request, const char *about,
		 struct nfs_answer *answer);

#endif
