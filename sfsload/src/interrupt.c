// SPDX-License-Identifier: Apache-2.0
/* Nothing is undone at a signal: a server that does not answer might be why it was sent */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "interrupt.h"

static const int signals[] = { SIGINT, SIGTERM };

enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static const char told[] = "sfsload: interrupted: there is no result, and what was made on the server stays there\n";

/* Its own signal waits until it returns, and then has its default again */
static void tell(int number)
{
	ssize_t written = write(STDERR_FILENO, told, sizeof(told) - 1);

	(void)written;
	raise(number);
}

void interrupt_tell(void)
{
	const struct sigaction telling = { .sa_handler = tell, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &telling, NULL);
}

void interrupt_ignore(void)
{
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i], SIG_IGN);
}
