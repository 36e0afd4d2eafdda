// SPDX-License-Identifier: Apache-2.0
/* Creates the file set on the server, with synchronous calls */
#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "message.h"
#include "prepare.h"
#include "schedule.h"

enum { DIRECTORY_MODE = 0755, FILE_MODE = 0644, KB = 1024 };

static void look_up(const struct preparation *p, const struct handle *directory, const char *name,
		    struct nfs_answer *answer)
{
	struct nfs_request request = { .op = OP_LOOKUP, .object = directory, .name = name };

	client_must(p->client, &request, name, answer);
}

/* A server may omit the handle of a new object */
static void keep_handle(const struct preparation *p, const struct nfs_request *made, struct nfs_answer *answer,
			struct handle *handle)
{
	if (!answer->handle.length)
		look_up(p, made->object, made->name, answer);
	*handle = answer->handle;
}

/* Makes an object that may exist already */
static void make(const struct preparation *p, const struct nfs_request *request, struct handle *handle)
{
	struct nfs_answer answer;

	client_nfs(p->client, request, &answer);
	if (answer.status == NFS_EXISTS)
		look_up(p, request->object, request->name, &answer);
	else if (answer.status != NFS_OK)
		client_must(p->client, request, request->name, &answer);
	keep_handle(p, request, &answer, handle);
}

static void directory(const struct preparation *p, const struct handle *in, const char *name, struct handle *handle)
{
	struct nfs_request request = { .op = OP_MKDIR, .object = in, .name = name, .mode = DIRECTORY_MODE };
	struct nfs_answer answer;

	if (p->make) {
		make(p, &request, handle);
	} else {
		look_up(p, in, name, &answer);
		*handle = answer.handle;
	}
}

static void make_link(const struct preparation *p, uint32_t link)
{
	char name[PATH_SIZE], target[PATH_SIZE];
	struct nfs_request request = {
		.op = OP_SYMLINK, .object = &p->shared->links_directory, .name = name, .target = target,
	};
	struct nfs_answer answer;

	name_of_link(name, link);
	target_of_link(p->set, target, link);
	if (p->make) {
		make(p, &request, &p->shared->links[link]);
	} else {
		look_up(p, request.object, name, &answer);
		p->shared->links[link] = answer.handle;
	}
}

/* Restores the plain files to their state before any load */
static void plain_file(const struct preparation *p, uint32_t file)
{
	char name[PATH_SIZE];
	struct nfs_request request = {
		.op = plain_file_is_there(file) ? OP_CREATE : OP_REMOVE, .name = name, .mode = FILE_MODE,
		.object = &p->shared->plain_directories[file / FILES_IN_DIRECTORY],
	};
	struct nfs_answer answer;

	name_of_plain_file(name, file);
	client_nfs(p->client, &request, &answer);
	if (answer.status != NFS_OK && (request.op == OP_CREATE || answer.status != NFS_NO_ENTRY))
		client_must(p->client, &request, name, &answer);
}

void prepare_base(const struct preparation *p)
{
	char name[PATH_SIZE];

	directory(p, p->export, p->directory, &p->shared->root);
	directory(p, &p->shared->root, "links", &p->shared->links_directory);
	for (uint32_t i = 0; i < LINKS; i++)
		make_link(p, i);
	for (uint32_t i = 0; i < PLAIN_DIRECTORIES; i++) {
		name_of_plain_directory(name, i);
		directory(p, &p->shared->root, name, &p->shared->plain_directories[i]);
	}
	for (uint32_t i = 0; i < PLAIN_FILES; i++)
		plain_file(p, i);
}

static void write_all(const struct preparation *p, const struct handle *handle, uint32_t file, const char *name)
{
	uint8_t block[NFS_BLOCK];
	struct nfs_request write = { .op = OP_WRITE, .object = handle, .data = block };
	struct nfs_request commit = { .op = OP_COMMIT, .object = handle };
	uint32_t size = fileset_size(p->set, file);
	struct nfs_answer answer;

	for (uint32_t kb = 0; kb < size; kb += BLOCK_KB) {
		uint32_t left = size - kb < BLOCK_KB ? size - kb : BLOCK_KB;

		content_fill(block, file, kb, left);
		write.offset = (uint64_t)kb * KB;
		write.length = left * KB;
		client_must(p->client, &write, name, &answer);
		if (p->client->nfs->version > 2 && answer.count != write.length)
			end_with(EXIT_WRONG, "%s: wrote %u of %u bytes of %s", p->client->what, answer.count,
				 write.length, name);
	}
	if (p->client->nfs->version > 2)
		client_must(p->client, &commit, name, &answer);
}

static void make_file(const struct preparation *p, const struct handle *in, uint32_t file, struct handle *handle)
{
	char name[PATH_SIZE];
	struct nfs_request request = { .op = OP_CREATE, .object = in, .name = name, .mode = FILE_MODE };
	struct nfs_answer answer;

	name_of_file(name, file);
	client_must(p->client, &request, name, &answer);
	keep_handle(p, &request, &answer, handle);
	write_all(p, handle, file, name);
}

/* An earlier load has appended to it */
static void find_file(const struct preparation *p, const struct handle *in, uint32_t file, struct handle *handle)
{
	uint64_t size = (uint64_t)fileset_size(p->set, file) * KB;
	struct nfs_request shorten = { .op = OP_SETATTR, .object = handle, .set_size = true, .size = size };
	struct nfs_request ask = { .op = OP_GETATTR, .object = handle };
	struct nfs_answer answer;
	char name[PATH_SIZE];

	name_of_file(name, file);
	look_up(p, in, name, &answer);
	*handle = answer.handle;
	client_must(p->client, &ask, name, &answer);
	if (answer.size < size)
		end_with(EXIT_WRONG, "%s: %s has %llu bytes, not %llu: prepare it with this seed, load and scale",
			 p->client->what, name, (unsigned long long)answer.size, (unsigned long long)size);
	if (answer.size > size)
		client_must(p->client, &shorten, name, &answer);
}

/* 1 + each file's index in accessed_files; 0: not accessed */
static uint32_t *places_of(const struct fileset *set)
{
	uint32_t *places = allocate(set->files, sizeof(*places));

	for (uint32_t place = 0; place < set->accessed; place++)
		places[set->accessed_files[place]] = place + 1;
	return places;
}

void prepare_part(const struct preparation *p, uint32_t part, uint32_t parts)
{
	uint32_t *places = places_of(p->set);

	for (uint32_t i = part; i < p->set->directories; i += parts) {
		struct handle *in = &p->shared->directories[i];
		uint32_t end = (i + 1) * FILES_IN_DIRECTORY;
		char name[PATH_SIZE];

		name_of_directory(name, i);
		directory(p, &p->shared->root, name, in);
		for (uint32_t file = i * FILES_IN_DIRECTORY; file < end && file < p->set->files; file++) {
			struct handle unused, *handle = places[file] ? &p->shared->files[places[file] - 1] : &unused;

			if (p->make)
				make_file(p, in, file, handle);
			else if (places[file])
				find_file(p, in, file, handle);
		}
	}
	free(places);
}
