// SPDX-License-Identifier: Apache-2.0
/* Nothing is cleaned up on the server: an unresponsive server may be the reason for the signal */
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "interrupt.h"

static const int signals[] = { SIGINT, SIGTERM };

enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static const char told[] = "sfsload: interrupted: there is no result; what was made on the server, if anything, stays there\n";

static const char *volatile unfinished;

/*
 * The signal is blocked until the handler returns, and then has its default action. The write must not block on a full
 * pipe.
 */
static void tell(int number)
{
	struct pollfd message = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t heard = 0;

	if (unfinished)
		unlink(unfinished);
	if (poll(&message, 1, 0) == 1 && (message.revents & POLLOUT))
		heard = write(STDERR_FILENO, told, sizeof(told) - 1);
	(void)heard; /* a failed write changes nothing */
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

static void mask(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(how, &set, NULL);
}

void interrupt_hold(void)
{
	mask(SIG_BLOCK);
}

void interrupt_release(void)
{
	mask(SIG_UNBLOCK);
}

void interrupt_ignore(void)
{
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i], SIG_IGN);
}

void interrupt_removes(const char *file)
{
	unfinished = file;
}
