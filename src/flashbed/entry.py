# SPDX-License-Identifier: Apache-2.0
"""Where the command begins and ends: before anything else is imported it can be interrupted like later on.

To import the command line takes a fifth of a second, and much longer on a busy host; Ctrl-C then was a traceback.
"""

import os
import signal
import sys
from typing import NoReturn


def main() -> None:
    """Entry point of the program `flashbed`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    if sys.stderr is None:  # was closed by who started this
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 (stays open)
    from flashbed import cli

    try:
        cli.main()
    finally:
        # All is done and said. A signal that comes while the interpreter goes would end it with a status of its own.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _drop_what_standard_error_refuses()


def _drop_what_standard_error_refuses() -> None:
    """Python would try it once more when it ends, and end with a status of its own."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _leave(*_: object) -> NoReturn:
    """Nothing is begun yet that could be left half done."""
    os.write(2, b"flashbed: interrupted\n")
    os._exit(130)
