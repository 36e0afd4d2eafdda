# SPDX-License-Identifier: Apache-2.0
"""Start and end the program. It handles signals before it imports anything else.

The import of the command line takes a fifth of a second, and longer on a busy host. Without this module, Ctrl-C in that
time would print a traceback.
"""

import gc
import os
import signal
import sys
from typing import NoReturn

GARBAGE_OBJECTS = 50_000
"""The new objects after which Python looks for unused cycles, instead of 700: imports and reports leave none."""


def main() -> None:
    """Run the program `flashbed`."""
    gc.set_threshold(GARBAGE_OBJECTS)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    if sys.stderr is None:  # the parent process closed it
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 (stays open)
    from flashbed import cli

    try:
        cli.main()
    finally:
        # A signal during the interpreter's shutdown would replace the exit status
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _drop_what_standard_error_refuses()


def _drop_what_standard_error_refuses() -> None:
    """Discard text that standard error refuses. Python would try it again at its end, and replace the exit status."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _leave(*_: object) -> NoReturn:
    """End at once: nothing has begun yet."""
    os.write(2, b"flashbed: interrupted\n")
    os._exit(130)
