// SPDX-License-Identifier: Apache-2.0
/* Records of TCP that a server should not send */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel.h"
#include "test.h"

static void test_a_row_of_empty_fragments_breaks_the_channel(void)
{
	static const uint8_t empty[4];
	struct sockaddr_in nowhere = { .sin_family = AF_INET };
	struct channel channel;
	int ends[2];
	size_t length;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	channel_prepare(&channel, true, &nowhere);
	channel.fd = ends[0];
	channel.state = CHANNEL_OPEN;
	CHECK(!fcntl(ends[0], F_SETFL, O_NONBLOCK));
	CHECK(write(ends[1], empty, sizeof(empty)) == sizeof(empty));
	CHECK(!channel_receive(&channel, &length));
	CHECK_EQUAL(CHANNEL_CLOSED, channel.state);
	CHECK_EQUAL(EPROTO, (uint64_t)channel.error);
	channel_end(&channel);
	close(ends[1]);
}

const struct test channel_tests[] = {
	TEST(test_a_row_of_empty_fragments_breaks_the_channel),
	END_OF_TESTS,
};
