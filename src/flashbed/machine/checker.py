# SPDX-License-Identifier: Apache-2.0
"""Run the file system's own checker on the image that a guest left. Must not know the cell.

The guest is not trusted. Its image may make a checker loop for ever or print gigabytes, so time and output are limited.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from flashbed.common import programs
from flashbed.common.errors import SetupError
from flashbed.guest_output.assessment import Status
from flashbed.machine.outcomes import Outcome

FROM_OUTSIDE = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM})
"""Signals that come from outside, and not from a fault of the program."""


CHECKER_LIMIT_S = 3600.0
"""The limit in seconds of this host's time. A checker takes seconds for the largest shipped medium."""

MOST_OUTPUT_BYTES = 1 << 20
"""The limit of the checker's output, which becomes part of a result."""


class Killed(Exception):
    """The checker was killed, as Linux does when memory is short."""


class NoVerdict(Exception):
    """The image kept its checker from finishing; the text says how."""


def installed(names: Iterable[str], first: Path | None = None) -> list[Path]:
    """Return the paths of checkers, from the directory `first` or from this host. Raises SetupError that names each
    missing one.
    """
    places = {name: programs.find(name, first) for name in names}
    if missing := [name for name, place in places.items() if place is None]:
        are = "is" if len(missing) == 1 else "are"
        raise SetupError(
            f"{', '.join(missing)} {are} not installed, and what was measured could not be checked. `flashbed doctor` "
            "says how to get it."
        )
    return [place for place in places.values() if place is not None]


def verdict(command: Sequence[str], data: Path, first: Path | None = None) -> str:
    """Return the checker's output for the image `data`; "" if the image is clean. Change nothing. Raises SetupError if
    the program is missing, Killed, NoVerdict.
    """
    environment = {**os.environ, "LC_ALL": "C", "PATH": programs.search_path(first)}
    if (program := programs.find(command[0], first)) is None:
        raise programs.missing(command[0])
    begin = time.monotonic()
    try:
        options = {"stdin": subprocess.DEVNULL, "env": environment}
        process = programs.run_briefly([program, *command[1:]], CHECKER_LIMIT_S, MOST_OUTPUT_BYTES, **options)
    except programs.TooMuchOutput as error:
        raise NoVerdict(f"{command[0]} {error} of the image") from None
    if time.monotonic() - begin >= CHECKER_LIMIT_S:
        raise NoVerdict(f"{command[0]} did not come to an end in {CHECKER_LIMIT_S:.0f} s of this host's time")
    if -process.returncode in FROM_OUTSIDE:  # this is no verdict on the image, and must not become a result
        raise Killed(f"killed (signal {-process.returncode}) while {command[0]} looked at its image: out of memory?")
    if process.returncode == 0:
        return ""
    output = (_text(process.stdout) + _text(process.stderr)).replace(str(data), data.name).strip()
    return f"exit status {process.returncode}: {output}"


def checked(outcome: Outcome, command: Sequence[str], data: Path, first: Path | None = None) -> Outcome:
    """Return the outcome of a guest that measured, with the checker's verdict on the image that it left in `data`. The
    outcome is failed if there is no verdict, and killed if the checker was killed.
    """
    try:
        return replace(outcome, medium_check=verdict(command, data, first))
    except SetupError as error:  # the program was there when the run began; without it this would be another result
        return replace(outcome, status=Status.FAILED, reason=f"measured, and not checked: {error.message}")
    except NoVerdict as error:
        return replace(outcome, status=Status.FAILED, reason=f"measured, and not checked: {error}")
    except Killed as error:
        return replace(outcome, status=Status.KILLED, reason=str(error))


def _text(output: bytes) -> str:
    return output.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
