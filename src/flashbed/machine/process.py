# SPDX-License-Identifier: Apache-2.0
"""The emulator as a process of this host: it ends when its time is up, when its guest has panicked or writes without an
end, and with this process.

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

from flashbed.common import children
from flashbed.common.errors import InterruptedByUser
from flashbed.guest_output.profile import RAW
from flashbed.machine import deaths

KILL_AFTER_S = 5
STOP_POLL_S = 0.2
"""How often whoever waits for a guest looks whether it is to stop."""

PANIC_ENDS_S = 10.0
"""Of the host's time, from a panic on: a guest whose CPUs can be stopped has ended by then."""
TIMED_OUT = 124

RAN = "ran.log"
"""What a run leaves in its folder besides results: the code of the ranges asked for that it executed."""

PRICE = "price.txt"
"""What a run leaves in its folder besides results: what each step took of this host (emulator/lab-price.h)."""

CONSOLE, COMPLAINT = "console.log", "complaint.log"
GROWING = (CONSOLE, COMPLAINT, RAW, RAN, PRICE)
"""What a guest can make grow in its folder."""

MOST_WRITTEN = 64 << 20
"""Bytes of each file that grows while a guest runs: its console, and what the emulator notes. They lie in memory."""


class Running(Protocol):
    """A guest that is under way."""

    def has_ended(self, within_s: float) -> bool:
        """Whether it ends within this time; waits for that."""

    def end(self) -> None:
        """Asks it to end."""


class End(Enum):
    """How a guest that was watched came to its end."""

    ITS_OWN = auto()
    MADE = auto()
    """It had panicked, or wrote without an end."""
    LATE = auto()


def execute(arguments: list[str], folder: Path, limit_s: float, stop: threading.Event) -> int:
    """The exit status, or TIMED_OUT. The guest dies with this process, even if that is killed."""
    begin = time.monotonic()
    with started(arguments, folder, limit_s) as process:
        end = watch(Started(process), folder, stop)
        status = process.wait()
    if end is End.MADE:
        return 0
    # Who has to kill what is out of time kills itself, too: its status is then the same as for a guest that was killed
    late = time.monotonic() - begin >= limit_s and status in (124, -signal.SIGKILL, 128 + signal.SIGKILL)
    return TIMED_OUT if late else status


@contextmanager
def started(
    arguments: list[str], folder: Path, limit_s: float = 0, inherited: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """An emulator that has `limit_s` seconds (0: as long as it likes) and these open files of this process, and says
    what it has against its guest in a file of `folder`. It is ended if the block is left by an exception.
    """
    with (
        (folder / COMPLAINT).open("wb") as said,
        children.started(
            children.guarded(arguments, limit_s, KILL_AFTER_S),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=inherited,
        ) as process,
    ):
        yield process


class Started:
    """A guest that is a process of this one."""

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
    """Returns when it has ended. It is asked to after `limit_s` seconds, after a panic, or if it writes without an end;
    by who catches InterruptedByUser, which this raises if `stop` is set.

    A panic stops the other CPUs first, and waits a second for each that takes no interrupts. Many CPUs that spin make
    minutes of the host's time of that.
    """
    begin, seen, why = time.monotonic(), _Growing(folder / CONSOLE), End.ITS_OWN
    panicked_at: float | None = None
    while not guest.has_ended(STOP_POLL_S):
        now = time.monotonic()
        if stop.is_set():
            raise InterruptedByUser("stopped")
        if why is not End.ITS_OWN:
            continue
        flooded = any(is_flooded(folder / name) for name in GROWING)
        if not flooded and panicked_at is None and seen.has(deaths.PANIC):
            panicked_at = now
        if flooded or (panicked_at is not None and now - panicked_at > PANIC_ENDS_S):
            why = End.MADE
        elif now - begin > limit_s:
            why = End.LATE
        if why is not End.ITS_OWN:
            guest.end()
    return why


def complaint(folder: Path) -> str:
    """What the emulator said on standard error."""
    return beginning(folder / COMPLAINT).decode(errors="replace")


def is_flooded(path: Path) -> bool:
    """Whether a guest made it longer than any that means well."""
    return path.exists() and path.stat().st_size > MOST_WRITTEN


def beginning(path: Path) -> bytes:
    """What it has, up to there."""
    with path.open("rb") as file:
        return file.read(MOST_WRITTEN)


class _Growing:
    """A file that another program writes to."""

    def __init__(self, path: Path) -> None:
        self._path, self._at, self._rest = path, 0, b""

    def has(self, words: bytes) -> bool:
        """Whether what came since the last look has them, or completes them."""
        with self._path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        text = self._rest + new
        self._rest = text[-len(words) :]
        return words in text
