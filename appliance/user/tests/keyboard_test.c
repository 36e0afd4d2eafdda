// SPDX-License-Identifier: Apache-2.0
/* Which lines at the console are words */
#include "keyboard.h"

#include <signal.h>

#include "test.h"

static void words_are_signals_and_others_are_not(void)
{
	CHECK_EQUAL(SIGUSR2, keyboard_signal("poweroff\n"));
	CHECK_EQUAL(SIGTERM, keyboard_signal("reboot\r\n"));
	CHECK_EQUAL(SIGUSR1, keyboard_signal("halt"));
	CHECK_EQUAL(0, keyboard_signal(""));
	CHECK_EQUAL(0, keyboard_signal("\n"));
	CHECK_EQUAL(0, keyboard_signal("poweroff now\n"));
	CHECK_EQUAL(0, keyboard_signal("power"));
}

const struct test keyboard_tests[] = {
	TEST(words_are_signals_and_others_are_not),
	END_OF_TESTS,
};
