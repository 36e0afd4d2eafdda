// SPDX-License-Identifier: Apache-2.0
/*
 * Locks that are waited for. The server calls the client when a lock is free; a client that heard nothing asks again after
 * 30 s, so that an answer before that says that the call came.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cases.h"
#include "stranger.h"

enum { WAITS_MS = 2000, SOON_MS = 25000, AT_LAST_MS = 120000, WAITERS = 3 };

/* One has the whole; another waits for a part of it, and gets it once the first gives it up */
static int locks_are_waited_for(void)
{
	for (int mount = 1; mount >= 0; mount--) {
		int a = open(at(0, "locked"), O_CREAT | O_RDWR, 0644);
		struct stranger b;

		MUST(a >= 0 && begin_stranger(&b, at(mount, "locked")));
		MUST(!set_lock(a, F_WRLCK, 0, 0, F_SETLK) && ask(&b, 'w', F_WRLCK, 10, 10));
		MUST(!answers_within(&b, WAITS_MS));
		MUST(!set_lock(a, F_UNLCK, 0, 10, F_SETLK) && !answers_within(&b, WAITS_MS)); /* not its part */
		MUST(!set_lock(a, F_UNLCK, 0, 0, F_SETLK));
		MUST(answers_within(&b, SOON_MS) && answer(&b) == 0 && is_refused(a, F_WRLCK, 0, 0));
		MUST(end_stranger(&b) && !close(a) && !unlink(at(0, "locked")));
	}
	return 0;
}

/* Each in its turn, whichever it is; readers all at once */
static int several_wait(void)
{
	int a = open(at(0, "queue"), O_CREAT | O_RDWR, 0644), got = 0;
	bool has[WAITERS] = { false };
	struct stranger waiters[WAITERS];

	MUST(a >= 0 && !set_lock(a, F_WRLCK, 0, 1, F_SETLK));
	for (int i = 0; i < WAITERS; i++)
		MUST(begin_stranger(&waiters[i], at(i % 2, "queue")) && ask(&waiters[i], 'w', F_WRLCK, 0, 1));
	MUST(!answers_within(&waiters[0], WAITS_MS) && !set_lock(a, F_UNLCK, 0, 1, F_SETLK));
	for (int waited = 0; got < WAITERS && waited < AT_LAST_MS; waited += 100)
		for (int i = 0; i < WAITERS; i++)
			if (!has[i] && answers_within(&waiters[i], 100 / WAITERS)) {
				MUST(answer(&waiters[i]) == 0 && is_refused(a, F_RDLCK, 0, 1));
				for (int k = 0; k < WAITERS; k++)
					MUST(k == i || has[k] || !answers_within(&waiters[k], 0)); /* nobody else */
				MUST(other(&waiters[i], 'l', F_UNLCK, 0, 1) == 0);
				has[i] = true;
				got++;
			}
	MUST(got == WAITERS && !set_lock(a, F_WRLCK, 0, 1, F_SETLK));
	for (int i = 0; i < WAITERS; i++)
		MUST(ask(&waiters[i], 'w', F_RDLCK, 0, 1));
	MUST(!answers_within(&waiters[0], WAITS_MS) && !set_lock(a, F_UNLCK, 0, 1, F_SETLK));
	for (int i = 0; i < WAITERS; i++)
		MUST(answers_within(&waiters[i], AT_LAST_MS) && answer(&waiters[i]) == 0);
	for (int i = 0; i < WAITERS; i++)
		MUST(end_stranger(&waiters[i]));
	MUST(!close(a) && !unlink(at(0, "queue")));
	return 0;
}

/* The holder is killed, and who waits gets it */
static int the_holder_is_killed(void)
{
	struct stranger holder, waiter;

	MUST(make(at(0, "killed"), "") && begin_stranger(&holder, at(0, "killed")));
	MUST(begin_stranger(&waiter, at(1, "killed")) && !other(&holder, 'l', F_WRLCK, 0, 0));
	MUST(ask(&waiter, 'w', F_WRLCK, 0, 0) && !answers_within(&waiter, WAITS_MS));
	MUST(kill_stranger(&holder) && answers_within(&waiter, SOON_MS) && answer(&waiter) == 0);
	MUST(end_stranger(&waiter) && !unlink(at(0, "killed")));
	return 0;
}

/* Who waited, and was killed, gets nothing: a lock that nobody has would stay for ever */
static int the_waiting_is_killed(void)
{
	int a = open(at(0, "given up"), O_CREAT | O_RDWR, 0644);
	struct stranger waiter, third;

	MUST(a >= 0 && begin_stranger(&waiter, at(1, "given up")) && begin_stranger(&third, at(1, "given up")));
	MUST(!set_lock(a, F_WRLCK, 0, 0, F_SETLK) && ask(&waiter, 'w', F_WRLCK, 0, 0));
	MUST(!answers_within(&waiter, WAITS_MS) && kill_stranger(&waiter) && !set_lock(a, F_UNLCK, 0, 0, F_SETLK));
	sleep(2); /* were it granted to nobody, that would be done by now */
	MUST(other(&third, 'l', F_WRLCK, 0, 0) == 0 && other(&third, 'l', F_UNLCK, 0, 0) == 0);
	MUST(!set_lock(a, F_WRLCK, 0, 0, F_SETLK));
	MUST(end_stranger(&third) && !close(a) && !unlink(at(0, "given up")));
	return 0;
}

static void wake(int signal)
{
	(void)signal;
}

/*
 * Each waits for what the other has: one is refused, as the server finds out. The lock manager that goes with version 2
 * has no word for a deadlock, and says "denied"; Linux's client makes ENOLCK of that for who would have waited. By
 * version 4.0 a client only asks again and again, and the server knows of nobody who waits: both ask by the second mount.
 */
static int each_waits_for_the_other(void)
{
	struct sigaction action = { .sa_handler = wake };
	int mount = nfs_version == 4 ? 1 : 0, a = open(at(mount, "deadlock"), O_CREAT | O_RDWR, 0644), refused;
	struct stranger b;
	struct flock second = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1 };

	MUST(a >= 0 && begin_stranger(&b, at(1, "deadlock")));
	MUST(!set_lock(a, F_WRLCK, 0, 1, F_SETLK) && !other(&b, 'l', F_WRLCK, 1, 1));
	MUST(ask(&b, 'w', F_WRLCK, 0, 1) && !answers_within(&b, WAITS_MS));
	sigaction(SIGALRM, &action, NULL);
	alarm(40);
	MUST(fcntl(a, F_SETLKW, &second));
	refused = errno;
	alarm(0);
	errno = refused;
	if (refused != (nfs_version == 2 ? ENOLCK : EDEADLK))
		return __LINE__;
	MUST(!set_lock(a, F_UNLCK, 0, 1, F_SETLK) && answers_within(&b, AT_LAST_MS) && answer(&b) == 0);
	MUST(other(&b, 'l', F_UNLCK, 0, 0) == 0 && !set_lock(a, F_WRLCK, 0, 0, F_SETLK)); /* nothing is left */
	MUST(end_stranger(&b) && !close(a) && !unlink(at(0, "deadlock")));
	return 0;
}

const struct nfs_case waiting_cases[] = {
	{ "locks_are_waited_for", locks_are_waited_for },
	{ "several_wait", several_wait },
	{ "the_holder_is_killed", the_holder_is_killed },
	{ "the_waiting_is_killed", the_waiting_is_killed },
	{ "each_waits_for_the_other", each_waits_for_the_other },
	{ NULL, NULL },
};
