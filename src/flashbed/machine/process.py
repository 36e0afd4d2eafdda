# SPDX-License-Identifier: Apache-2.0
"""Run the emulator as a process of this host. It ends at its time limit, when its guest panics or writes without end,
and when this process ends.

Knows no cell and no medium.
"""

from __future__ import annotations

import math
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from flashbed.common import programs
from flashbed.common.errors import InterruptedByUser
from flashbed.guest_output import system_calls
from flashbed.guest_output.cpu_samples import RAW_SAMPLES
from flashbed.machine import deaths

KILL_GUEST_AFTER_S = 5
"""Seconds between asking a guest to end and killing it."""

STOP_POLL_S = 0.2
"""Seconds between two looks at the stop event."""

PANIC_ENDS_S = 10.0
"""Seconds of the host's time from a panic to the end. A guest whose CPUs can be stopped has ended by then."""

TIMED_OUT = programs.LATE
"""The exit status of an emulator that exceeded its limit."""

RAN = "ran.log"
"""A file of a run beside its results: the executed code of the watched ranges."""

PRICE = "price.txt"
"""A file of a run beside its results: the cost of each step on this host (emulator/lab-price.h)."""

CONSOLE, COMPLAINT = "console.log", "complaint.log"
GROWING = (CONSOLE, COMPLAINT, RAW_SAMPLES, RAN, PRICE, system_calls.RAW_CALLS)
"""Files that a guest can make grow in its directory."""

MOST_WRITTEN = 64 << 20
"""The most bytes of each growing file but the notes of system calls. They lie in memory."""


class Running(Protocol):
    """A running guest."""

    def has_ended(self, within_s: float) -> bool:
        """Wait for at most `within_s` seconds. Return True if the guest has ended."""

    def end(self) -> None:
        """Ask the guest to end."""


class End(Enum):
    """How a watched guest ended."""

    ITS_OWN = auto()
    BROKEN = auto()
    """The guest panicked, or wrote without end."""
    LATE = auto()
    """The guest exceeded its limit."""


def execute(arguments: list[str], folder: Path, limit_s: float, stop: threading.Event) -> int:
    """Run the emulator and return its exit status, or TIMED_OUT. The guest dies with this process, even after
    SIGKILL.
    """
    begin = time.monotonic()
    with started(arguments, folder, limit_s) as process:
        end = watch(Started(process), folder, stop)
        status = process.wait()
    if end is End.BROKEN:
        return 0
    # `timeout -k` kills itself, too, when it has to kill. Its status is then the same as for a killed guest
    late = time.monotonic() - begin >= limit_s and status in (programs.LATE, -signal.SIGKILL, 128 + signal.SIGKILL)
    return TIMED_OUT if late else status


@contextmanager
def started(
    arguments: list[str], folder: Path, limit_s: float = 0, inherited: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Start an emulator with a limit of `limit_s` seconds (0: none) and these inherited file descriptors. Its
    complaints go to a file of `folder`. If an exception leaves the block, the emulator is ended.
    """
    with (
        (folder / COMPLAINT).open("wb") as complaint_file,
        programs.started(
            programs.guarded(arguments, limit_s, KILL_GUEST_AFTER_S),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaint_file,
            pass_fds=inherited,
        ) as process,
    ):
        yield process


class Started:
    """A guest in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def has_ended(self, within_s: float) -> bool:
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        self._process.terminate()


def watch(guest: Running, folder: Path, stop: threading.Event, limit_s: float = math.inf) -> End:
    """Wait until the guest has ended, and return how. Ask it to end after `limit_s` seconds, after a panic, or if it
    writes without end. If `stop` is set, raise InterruptedByUser; the caller that catches it ends the guest.

    A panic first stops the other CPUs, and waits a second for each CPU that takes no interrupts. With many spinning
    CPUs that takes minutes of the host's time.
    """
    begin, console, end = time.monotonic(), _Growing(folder / CONSOLE), End.ITS_OWN
    panicked_at: float | None = None
    while not guest.has_ended(STOP_POLL_S):
        now = time.monotonic()
        if stop.is_set():
            raise InterruptedByUser("stopped")
        if end is not End.ITS_OWN:
            continue
        is_flooded = flooded(folder)
        if not is_flooded and panicked_at is None and console.has(deaths.PANIC):
            panicked_at = now
        if is_flooded or (panicked_at is not None and now - panicked_at > PANIC_ENDS_S):
            end = End.BROKEN
        elif now - begin > limit_s:
            end = End.LATE
        if end is not End.ITS_OWN:
            guest.end()
    return end


def complaint(folder: Path) -> str:
    """Return what the emulator printed on standard error."""
    return head_of(folder / COMPLAINT).decode(errors="replace")


def flooded(folder: Path) -> str:
    """Return the name of a file that is longer than a well-behaved guest makes it; "" if there is none."""
    return next((name for name in GROWING if _bytes_of(folder / name) > most_written(name)), "")


def most_written(name: str) -> int:
    """Return the most bytes of a growing file."""
    return system_calls.MOST_RAW if name == system_calls.RAW_CALLS else MOST_WRITTEN


def _bytes_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def head_of(path: Path) -> bytes:
    """Return the first MOST_WRITTEN bytes of the file."""
    with path.open("rb") as file:
        return file.read(MOST_WRITTEN)


class _Growing:
    """A file that another program writes."""

    def __init__(self, path: Path) -> None:
        self._path, self._at, self._rest = path, 0, b""

    def has(self, words: bytes) -> bool:
        """Return True if the bytes since the last call contain or complete `words`."""
        with self._path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        text = self._rest + new
        self._rest = text[-len(words) :]
        return words in text
