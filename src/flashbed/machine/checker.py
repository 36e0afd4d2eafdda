# SPDX-License-Identifier: Apache-2.0
"""The file system's own checker, run on what a guest left on its medium. Must not know which cell that was of.

The guest is not trusted, and its image may keep a checker going for ever, or make it say gigabytes: both are limited.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from flashbed.common import children, programs

FROM_OUTSIDE = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM})
"""Signals that a program is sent, and does not bring upon itself."""


LONGEST_S = 3600.0
"""Of this host's time. A checker takes seconds for the largest shipped medium."""

MOST_BYTES = 1 << 20
"""Of what it says, which becomes part of a result."""


class Killed(Exception):
    """A checker that was killed, as Linux does when memory is short."""


class NoVerdict(Exception):
    """A checker that the image kept from coming to its end; the text says how."""


def verdict(command: Sequence[str], data: Path, first: Path | None = None) -> str:
    """What a checker says of the image `data`: "" for clean. Changes nothing. Raises SetupError if there is no such
    program, Killed, NoVerdict.
    """
    environment = {**os.environ, "LC_ALL": "C", "PATH": programs.search_path(first)}
    if (program := programs.found(command[0], first)) is None:
        raise programs.missing(command[0])
    begin = time.monotonic()
    try:
        how = {"stdin": subprocess.DEVNULL, "env": environment}
        done = children.run_briefly([program, *command[1:]], LONGEST_S, MOST_BYTES, **how)
    except children.SaidTooMuch as error:
        raise NoVerdict(f"{command[0]} {error} of the image") from None
    if time.monotonic() - begin >= LONGEST_S:
        raise NoVerdict(f"{command[0]} did not come to an end in {LONGEST_S:.0f} s of this host's time")
    if -done.returncode in FROM_OUTSIDE:  # it says nothing about the image, and must not become a result
        raise Killed(f"killed (signal {-done.returncode}) while {command[0]} looked at its image: out of memory?")
    if done.returncode == 0:
        return ""
    said = (_text(done.stdout) + _text(done.stderr)).replace(str(data), data.name).strip()
    return f"exit status {done.returncode}: {said}"


def _text(said: bytes) -> str:
    return said.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
