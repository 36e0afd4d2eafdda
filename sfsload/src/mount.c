// SPDX-License-Identifier: Apache-2.0
/* Portmapper and mount protocol, both over the transport of the load */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "clock.h"
#include "message.h"
#include "mount.h"

enum {
	PORTMAP_VERSION = 2,
	PORTMAP_GETPORT = 3,
	MOUNT_MNT = 1,
	MOUNT_UMNT = 3,
	FHSIZE_2 = 32,
};

static void start(struct client *client, const struct mount_request *request, uint16_t port, const char *what)
{
	struct calls_settings settings = request->settings;

	settings.to.sin_port = htons(port);
	client_start(client, &settings, what);
}

static uint16_t port_of(const struct mount_request *request, uint32_t program, uint32_t version, const char *name)
{
	static const struct rpc_procedure getport = { PORTMAP_PROGRAM, PORTMAP_VERSION, PORTMAP_GETPORT };
	struct client client = { 0 };
	struct xdr_in *results;
	struct xdr_out *out;
	char what[128];
	uint32_t port;

	snprintf(what, sizeof(what), "the portmapper at %s, port %u", request->server, request->portmap_port);
	start(&client, request, request->portmap_port, what);
	out = calls_begin(&client.calls, &getport);
	xdr_put_u32(out, program);
	xdr_put_u32(out, version);
	xdr_put_u32(out, request->settings.tcp ? IPPROTO_TCP : IPPROTO_UDP);
	xdr_put_u32(out, 0);
	results = client_ask(&client);
	port = xdr_get_u32(results);
	if (results->bad || port > UINT16_MAX)
		end_with(EXIT_WRONG, "%s: its answer is not as the protocol has it", what);
	if (!port)
		end_with(EXIT_NO_SERVER, "%s: there is no %s version %u over %s", what, name, version,
			 request->settings.tcp ? "TCP" : "UDP");
	client_end(&client);
	return (uint16_t)port;
}

/* NFS version 2 goes with version 1 */
static uint32_t mount_version(const struct mount_request *request)
{
	return request->version == 2 ? 1 : 3;
}

static void begin(struct client *client, const struct mount_request *request, uint32_t number)
{
	struct rpc_procedure procedure = { MOUNT_PROGRAM, mount_version(request), number };

	xdr_put_string(calls_begin(&client->calls, &procedure), request->path);
}

static bool get_root(struct xdr_in *in, uint32_t version, struct handle *root)
{
	uint32_t length = FHSIZE_2;
	const uint8_t *bytes = version == 1 ? xdr_get_fixed(in, FHSIZE_2) : xdr_get_opaque(in, MAX_HANDLE, &length);

	if (!bytes || !length)
		return false;
	root->length = length;
	memcpy(root->bytes, bytes, length);
	for (uint32_t flavors = version == 1 ? 0 : xdr_get_u32(in); flavors && !in->bad; flavors--)
		xdr_get_u32(in);
	return !in->bad;
}

void mount_export(const struct mount_request *request, struct mounted *mounted)
{
	struct client client = { 0 };
	struct xdr_in *results;
	char what[128];
	uint32_t status;

	memset(mounted, 0, sizeof(*mounted));
	mounted->nfs_port = request->nfs_port ? request->nfs_port
					      : port_of(request, NFS_PROGRAM, request->version, "NFS");
	mounted->mount_port = request->mount_port
				      ? request->mount_port
				      : port_of(request, MOUNT_PROGRAM, mount_version(request), "mount protocol");
	snprintf(what, sizeof(what), "the mount service at %s, port %u", request->server, mounted->mount_port);
	start(&client, request, mounted->mount_port, what);
	begin(&client, request, MOUNT_MNT);
	results = client_ask(&client);
	status = xdr_get_u32(results);
	if (!results->bad && status)
		end_with(EXIT_NO_SERVER, "%s: refuses %s: %s", what, request->path, nfs_status_name(status));
	if (!get_root(results, mount_version(request), &mounted->root))
		end_with(EXIT_WRONG, "%s: its answer is not as the protocol has it", what);
	client_end(&client);
}

static void ignore(void *context, enum rpc_outcome outcome, struct xdr_in *results, const struct call_times *times)
{
	(void)context, (void)outcome, (void)results, (void)times;
}

void unmount_export(const struct mount_request *request, const struct mounted *mounted)
{
	uint64_t until = now_ns() + NS_IN_S;
	struct client client = { 0 };

	start(&client, request, mounted->mount_port, "the mount service");
	begin(&client, request, MOUNT_UMNT);
	calls_send(&client.calls, ignore, NULL);
	while (client.calls.pending && now_ns() < until)
		calls_wait(&client.calls, until);
	client_end(&client);
}
