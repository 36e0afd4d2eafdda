// SPDX-License-Identifier: Apache-2.0
/* Exports and their clients */
#include "exports.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

bool address_of(const char *text, uint32_t *address)
{
	struct in_addr found;

	if (!strncmp(text, "::ffff:", 7))
		text += 7;
	if (inet_pton(AF_INET, text, &found) != 1)
		return false;
	*address = ntohl(found.s_addr);
	return true;
}

void address_text(uint32_t address, char *text)
{
	snprintf(text, 16, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

static bool next_number(const char **line, uint32_t *number)
{
	char word[16], *end;
	unsigned long value;

	if (words_next(line, word, sizeof word) <= 0 || word[0] < '0' || word[0] > '9')
		return false;
	value = strtoul(word, &end, 0);
	if (*end || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool next_clients(const char **line, uint32_t *address, uint32_t *mask)
{
	char word[24], *bits, *end;
	unsigned long length;

	if (words_next(line, word, sizeof word) <= 0 || !(bits = strchr(word, '/')))
		return false;
	*bits++ = '\0';
	length = strtoul(bits, &end, 10);
	if (!*bits || *end || length > 32 || !address_of(word, address))
		return false;
	*mask = length ? UINT32_MAX << (32 - length) : 0;
	return !(*address & ~*mask);
}

static bool is_plain(const char *path)
{
	if (path[0] != '/' || strlen(path) >= EXPORT_PATH)
		return false;
	while (*path) {
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if ((length == 1 && path[0] == '.') || (length == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += length;
	}
	return true;
}

const char *exports_add(struct exports *exports, const char *line)
{
	struct export_rule rule;
	int length;

	if (exports->count == EXPORT_RULES)
		return "too many exports";
	length = words_next(&line, rule.path, sizeof rule.path);
	if (length < 2 || strlen(rule.path) != (size_t)length || !is_plain(rule.path) || rule.path[length - 1] == '/')
		return "no plain path";
	if (!next_number(&line, &rule.fsid) || !rule.fsid || rule.fsid > INT32_MAX)
		return "no number of the export";
	if (!next_number(&line, &rule.flags) || rule.flags & ~(uint32_t)EXPORT_FLAGS)
		return "no flags";
	if (!next_number(&line, &rule.anon_uid) || !next_number(&line, &rule.anon_gid))
		return "no anonymous user";
	if (!next_clients(&line, &rule.address, &rule.mask))
		return "no addresses of clients";
	for (size_t i = 0; i < exports->count; i++)
		if ((exports->rules[i].fsid == rule.fsid) != !strcmp(exports->rules[i].path, rule.path))
			return "two exports with one number, or one with two";
	exports->rules[exports->count++] = rule;
	return NULL;
}

static bool is_for(const struct export_rule *rule, uint32_t address)
{
	return (address & rule->mask) == rule->address;
}

/* The better of two rules for one address; `best` may be NULL */
static const struct export_rule *better(const struct export_rule *best, const struct export_rule *rule)
{
	return !best || rule->mask > best->mask ? rule : best;
}

const struct export_rule *exports_find(const struct exports *exports, const char *path, uint32_t address)
{
	const struct export_rule *best = NULL;

	for (size_t i = 0; i < exports->count; i++)
		if (is_for(&exports->rules[i], address) && !strcmp(exports->rules[i].path, path))
			best = better(best, &exports->rules[i]);
	return best;
}

const struct export_rule *exports_find_fsid(const struct exports *exports, uint32_t fsid, uint32_t address)
{
	const struct export_rule *best = NULL;

	for (size_t i = 0; i < exports->count; i++)
		if (is_for(&exports->rules[i], address) && exports->rules[i].fsid == fsid)
			best = better(best, &exports->rules[i]);
	return best;
}

bool exports_knows(const struct exports *exports, uint32_t address)
{
	for (size_t i = 0; i < exports->count; i++)
		if (is_for(&exports->rules[i], address))
			return true;
	return false;
}

const struct export_rule *exports_around(const struct exports *exports, const char *path, uint32_t address)
{
	const struct export_rule *best = NULL;

	if (!is_plain(path))
		return NULL;
	for (size_t i = 0; i < exports->count; i++) {
		const struct export_rule *rule = &exports->rules[i];
		size_t length = strlen(rule->path);

		if (is_for(rule, address) && !strncmp(path, rule->path, length) &&
		    (!path[length] || path[length] == '/'))
			best = better(best, rule);
	}
	return best;
}
