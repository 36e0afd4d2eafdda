# SPDX-License-Identifier: Apache-2.0
"""The emulator as a process of this host: it ends when its time is up, when its guest has panicked or writes without an
end, and with this process.

Knows no cell and no medium.
"""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from pathlib import Path

from flashbed.common import children
from flashbed.common.errors import InterruptedByUser
from flashbed.guest_output.profile import RAW
from flashbed.machine import deaths

KILL_AFTER_S = 5
STOP_POLL_S = 0.2

PANIC_ENDS_S = 10.0
"""Of the host's time, from a panic on: a guest whose CPUs can be stopped has ended by then."""
TIMED_OUT = 124

RAN = "ran.log"
"""What a run leaves in its folder besides results: the code of the ranges asked for that it executed."""

PRICE = "price.txt"
"""What a run leaves in its folder besides results: what each step took of this host (emulator/lab-price.h)."""

CONSOLE = "console.log"
GROWING = (CONSOLE, RAW, RAN, PRICE)
"""What a guest can make grow in its folder."""

MOST_WRITTEN = 64 << 20
"""Bytes of each file that grows while a guest runs: its console, and what the emulator notes. They lie in memory."""


def execute(arguments: list[str], console: Path, limit_s: float, stop: threading.Event) -> tuple[int, str]:
    """Exit status, or TIMED_OUT, and standard error. The guest dies with this process, even if that is killed."""
    begin = time.monotonic()
    with children.started(
        children.guarded(arguments, limit_s, KILL_AFTER_S),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        complaint, ended = _wait(process, console, stop)
    if ended:
        return 0, complaint.decode(errors="replace")
    # Who has to kill what is out of time kills itself, too: its status is then the same as for a guest that was killed
    late = time.monotonic() - begin >= limit_s and process.returncode in (124, -signal.SIGKILL, 128 + signal.SIGKILL)
    return TIMED_OUT if late else process.returncode, complaint.decode(errors="replace")


def _wait(process: subprocess.Popen[bytes], console: Path, stop: threading.Event) -> tuple[bytes, bool]:
    """What it said, and whether it had to be ended: after a panic, or because it writes without an end.

    A panic stops the other CPUs first, and waits a second for each that takes no interrupts. Many CPUs that spin make
    minutes of the host's time of that.
    """
    seen = _Growing(console)
    panicked_at: float | None = None
    while True:
        try:
            return process.communicate(timeout=STOP_POLL_S)[1], False
        except subprocess.TimeoutExpired:
            if stop.is_set():
                raise InterruptedByUser("stopped") from None
        flooded = any(is_flooded(console.parent / name) for name in GROWING)
        if not flooded and panicked_at is None and seen.has(deaths.PANIC):
            panicked_at = time.monotonic()
        if flooded or (panicked_at is not None and time.monotonic() - panicked_at > PANIC_ENDS_S):
            process.terminate()
            return process.communicate()[1], True


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
