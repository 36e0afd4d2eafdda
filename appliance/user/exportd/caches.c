// SPDX-License-Identifier: Apache-2.0
/* Answers for the kernel's caches of clients and exports */
#include "caches.h"

#include <string.h>

#include "log.h"
#include "root.h"
#include "words.h"

const char *const cache_files[CACHES] = {
	[CACHE_ADDRESS] = "/proc/net/rpc/auth.unix.ip/channel",
	[CACHE_EXPORT] = "/proc/net/rpc/nfsd.export/channel",
	[CACHE_HANDLE] = "/proc/net/rpc/nfsd.fh/channel",
};

const char *const cache_flushes[CACHES] = {
	[CACHE_ADDRESS] = "/proc/net/rpc/auth.unix.ip/flush",
	[CACHE_EXPORT] = "/proc/net/rpc/nfsd.export/flush",
	[CACHE_HANDLE] = "/proc/net/rpc/nfsd.fh/flush",
};

/* In the caches: as long as the machine runs. Exports change only by a restart */
static const long long NEVER = 0x7fffffff;
/* The kind of file system number of our exports: 4 bytes (FSID_NUM of fs/nfsd/nfsfh.h) */
enum { BY_NUMBER = 1 };
/* NFSEXP_FSID and NFSEXP_NOSUBTREECHECK: set on exports that have numbers and are whole file systems */
enum { ALWAYS = 0x2000 | 0x400 };

static void put_address(struct words_out *out, uint32_t address)
{
	char text[16];

	address_text(address, text);
	words_put(out, text);
}

/* The kernel compares these four bytes in memory, so the number is in the machine's byte order */
static void put_fsid(struct words_out *out, uint32_t fsid)
{
	uint8_t bytes[4];

	memcpy(bytes, &fsid, sizeof bytes);
	words_put_hex(out, bytes, sizeof bytes);
}

/* Appends the export's options, users and number behind its client. Appends nothing if there is no export. */
static void put_export(struct words_out *out, const struct export_rule *rule)
{
	words_put_number(out, NEVER);
	if (!rule)
		return;
	words_put_number(out, rule->flags | ALWAYS);
	words_put_number(out, rule->anon_uid);
	words_put_number(out, rule->anon_gid);
	words_put_number(out, rule->fsid);
}

/* "nfsd ADDRESS" */
static bool answer_address(const struct exports *exports, const char *question, struct words_out *out)
{
	char class[16], client[64];
	uint32_t address;

	if (words_next(&question, class, sizeof class) <= 0 || words_next(&question, client, sizeof client) <= 0)
		return false;
	words_put(out, class);
	words_put(out, client);
	words_put_number(out, NEVER);
	if (!strcmp(class, "nfsd") && address_of(client, &address) && exports_knows(exports, address))
		put_address(out, address);
	else
		log_untrusted("%s: %s asks, whom no line names", class, client);
	return true;
}

/* "DOMAIN PATH" */
static bool answer_export(const struct exports *exports, const char *question, struct words_out *out)
{
	char domain[64], path[1024];
	const struct export_rule *rule = NULL;
	struct export_rule root;
	uint32_t address;

	if (words_next(&question, domain, sizeof domain) <= 0 || words_next(&question, path, sizeof path) <= 0)
		return false;
	words_put(out, domain);
	words_put(out, path);
	if (address_of(domain, &address))
		rule = strcmp(path, ROOT_PATH) ? exports_find(exports, path, address) :
					  root_rule(exports, address, &root);
	put_export(out, rule);
	return true;
}

/* "DOMAIN KIND \xBYTES" */
static bool answer_handle(const struct exports *exports, const char *question, struct words_out *out)
{
	char domain[64], kind[8], bytes[64];
	const struct export_rule *rule = NULL;
	struct export_rule root;
	uint32_t address, fsid;
	int length;

	if (words_next(&question, domain, sizeof domain) <= 0 || words_next(&question, kind, sizeof kind) <= 0)
		return false;
	length = words_next(&question, bytes, sizeof bytes);
	if (length <= 0)
		return false;
	if (!strcmp(kind, "1") && length == sizeof fsid && address_of(domain, &address)) {
		memcpy(&fsid, bytes, sizeof fsid);
		rule = fsid != ROOT_FSID ? exports_find_fsid(exports, fsid, address) :
					    root_rule(exports, address, &root);
	}
	words_put(out, domain);
	words_put(out, kind);
	words_put_hex(out, (const uint8_t *)bytes, (size_t)length);
	words_put_number(out, NEVER);
	if (rule)
		words_put(out, rule->path);
	return true;
}

bool cache_answer(enum cache cache, const struct exports *exports, const char *question, char *answer, size_t size)
{
	struct words_out out = { answer, size, 0, false };
	bool understood = false;

	if (cache == CACHE_ADDRESS)
		understood = answer_address(exports, question, &out);
	else if (cache == CACHE_EXPORT)
		understood = answer_export(exports, question, &out);
	else if (cache == CACHE_HANDLE)
		understood = answer_handle(exports, question, &out);
	return understood && words_end(&out);
}

bool cache_foretell(enum cache cache, const struct export_rule *rule, uint32_t address, char *line, size_t size)
{
	struct words_out out = { line, size, 0, false };

	if (cache == CACHE_ADDRESS) {
		words_put(&out, "nfsd");
		put_address(&out, address);
		words_put_number(&out, NEVER);
		put_address(&out, address);
	} else if (cache == CACHE_EXPORT) {
		put_address(&out, address);
		words_put(&out, rule->path);
		put_export(&out, rule);
	} else {
		put_address(&out, address);
		words_put_number(&out, BY_NUMBER);
		put_fsid(&out, rule->fsid);
		words_put_number(&out, NEVER);
		words_put(&out, rule->path);
	}
	return words_end(&out);
}
