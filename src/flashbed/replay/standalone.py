# SPDX-License-Identifier: Apache-2.0
"""The program of a pack that Python starts: the same as `flashbed verify`, without an installation."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from flashbed.common import foreign, programs
from flashbed.common.errors import FlashbedError, HostResourceError, InterruptedByUser, host_refusal
from flashbed.replay.verifying import VerifyOptions, verify

MOST_SECONDS = 1e9


def main(pack: Path) -> int:
    """Verify the pack and return the exit status, as `flashbed verify` does."""
    parser = argparse.ArgumentParser(
        prog=f"python3 {pack.name}", description="Runs the measurements in this pack again and compares each byte."
    )
    parser.add_argument("--cells", type=_count, metavar="N", help="run only N cells, spread over the study")
    parser.add_argument("--jobs", type=_count, metavar="N", help="guests at a time; default: one for each core")
    parser.add_argument("--limit", type=_seconds, default=900.0, metavar="SECONDS", help="host time limit of a guest")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="directory for temporary files")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = VerifyOptions(arguments.cells, arguments.jobs or programs.cores(), arguments.limit, arguments.folder)
    try:
        return _status(pack, options)
    finally:
        # All is done. A signal during the interpreter's shutdown would change the exit status.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _status(pack: Path, options: VerifyOptions) -> int:
    try:
        verify(pack, options, _say)
    except FlashbedError as error:
        print(foreign.plain(error.message), file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        _say_no_more()
        return InterruptedByUser.exit_code
    except OSError as error:
        _say_no_more()
        print(host_refusal(Path(), error).message, file=sys.stderr)
        return HostResourceError.exit_code
    return 0


def _say_no_more() -> None:
    """Keep Python from writing the remaining output again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1 on, not {text}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"must be seconds, more than 0, not {text}")
    return number


def _say(text: str) -> None:
    print(text, flush=True)


def _interrupt(*_: object) -> NoReturn:
    raise InterruptedByUser("interrupted")
