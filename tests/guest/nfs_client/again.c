// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that cannot be carried out twice with the same answer. Where the wire loses frames, answers among them, the
 * client sends its calls again, and the server has to know them: else a folder that was made is said to be there already.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"

enum { DISCARD = 9 };

/* The wire listens to what is sent to this port, and begins or ends to lose and to double frames */
static bool tell_wire(const char *what)
{
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(DISCARD) };
	int handle = socket(AF_INET, SOCK_DGRAM, 0);
	bool sent;

	inet_pton(AF_INET, server_address, &there.sin_addr);
	sent = sendto(handle, what, strlen(what), 0, (struct sockaddr *)&there, sizeof there) > 0;
	return !close(handle) && sent;
}

static int loop(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		int file;

		MUST(!mkdir(at(0, "again"), 0755));
		file = open(at(0, "again/file"), O_CREAT | O_EXCL | O_WRONLY, 0644);
		MUST(file >= 0 && write(file, "x", 1) == 1 && !close(file));
		MUST(!link(at(0, "again/file"), at(0, "again/link")));
		MUST(!rename(at(0, "again/file"), at(0, "again/renamed")));
		MUST(!symlink("renamed", at(0, "again/symbolic")));
		MUST(!chmod(at(0, "again/link"), 0600) && !truncate(at(0, "again/renamed"), 5));
		MUST(links_of(at(0, "again/renamed")) == 2 && size_of(at(0, "again/link")) == 5);
		MUST(!unlink(at(0, "again/symbolic")) && !unlink(at(0, "again/link")) && !unlink(at(0, "again/renamed")));
		MUST(!rmdir(at(0, "again")));
	}
	return 0;
}

static int many_in_a_row(void)
{
	return loop(100);
}

static int sent_again(void)
{
	int line;

	MUST(tell_wire("lose"));
	line = loop(15);
	tell_wire("keep");
	return line;
}

const struct nfs_case again_cases[] = {
	{ "many_in_a_row", many_in_a_row },
	{ NULL, NULL },
};

/* Over TCP nothing is lost that the server would see */
const struct nfs_case datagram_cases[] = {
	{ "sent_again", sent_again },
	{ NULL, NULL },
};
