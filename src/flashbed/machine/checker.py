# SPDX-License-Identifier: Apache-2.0
"""The file system's own checker, run on what a guest left on its medium. Must not know which cell that was of."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from flashbed.common import children, programs

FROM_OUTSIDE = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM})
"""Signals that a program is sent, and does not bring upon itself."""


class Killed(Exception):
    """A checker that was killed, as Linux does when memory is short."""


def verdict(command: Sequence[str], data: Path, first: Path | None = None) -> str:
    """What a checker says of the image `data`: "" for clean. Changes nothing. Raises SetupError if there is no such
    program, Killed.
    """
    environment = {**os.environ, "LC_ALL": "C", "PATH": programs.search_path(first)}
    if (program := programs.found(command[0], first)) is None:
        raise programs.missing(command[0])
    done = children.run([program, *command[1:]], stdin=subprocess.DEVNULL, env=environment, errors="replace")
    if -done.returncode in FROM_OUTSIDE:  # it says nothing about the image, and must not become a result
        raise Killed(f"killed (signal {-done.returncode}) while {command[0]} looked at its image: out of memory?")
    if done.returncode == 0:
        return ""
    said = (done.stdout + done.stderr).replace(str(data), data.name).strip()
    return f"exit status {done.returncode}: {said}"
