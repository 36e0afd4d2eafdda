// SPDX-License-Identifier: Apache-2.0
/*
 * busy: how long the CPU takes for stretches of work, and how late timers come that expire in their midst.
 *
 *	busy loop INSTRUCTIONS		counts down
 *	busy hint NANOSECONDS		is busy by the emulator's HINT #112
 *
 * A line for each of 100 stretches: what it took without a timer, what with one, and how late that one's signal was; ns.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STRETCHES = 100, FIRST_NS = 100000, STEP_NS = 997, NS_PER_S = 1000000000 };

static volatile int64_t due, late;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static void ring(int signal)
{
	(void)signal;
	late = now() - due;
}

static void loop(uint64_t instructions)
{
	uint64_t rounds = instructions / 2;

	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r" (rounds) : : "cc");
}

static void hint(uint64_t ns)
{
	register uint64_t left __asm__("x0") = ns;

	__asm__ volatile("hint #112" : "+r" (left) : : "memory");
	if (left)
		exit(3);
}

static int64_t stretch(void (*work)(uint64_t), uint64_t amount)
{
	int64_t begun = now();

	work(amount);
	return now() - begun;
}

int main(int count, char **words)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	timer_t timer;

	if (count != 3 || timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 2;
	signal(SIGALRM, ring);
	for (int i = 0; i < STRETCHES; i++) {
		void (*work)(uint64_t) = strcmp(words[1], "loop") ? hint : loop;
		uint64_t amount = strtoull(words[2], NULL, 10);
		int64_t alone = stretch(work, amount), with;
		struct itimerspec at = { 0 };

		due = now() + FIRST_NS + i * STEP_NS;
		at.it_value = (struct timespec) { due / NS_PER_S, due % NS_PER_S };
		late = -1;
		if (timer_settime(timer, TIMER_ABSTIME, &at, NULL))
			return 2;
		with = stretch(work, amount);
		printf("%lld %lld %lld\n", (long long)alone, (long long)with, (long long)late);
	}
	return 0;
}
