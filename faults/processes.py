# SPDX-License-Identifier: Apache-2.0
"""Find the processes that work for one cache: the lab and its children. Must not know why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BOUND_S = 10.0
"""The seconds after a run's end within which all its children must have ended. They take less than two if the host is
not busy.
"""


@dataclass(frozen=True)
class Process:
    """A running process. `name` is its program's name as Linux keeps it, at most 15 characters."""

    number: int
    name: str
    command: str

    @property
    def is_guest(self) -> bool:
        """True if it runs a machine. QEMU is also started to ask for its version or its CPUs."""
        return self.name.startswith("qemu-system") and " -kernel " in self.command


def of(cache: Path) -> list[Process]:
    """Return the processes with this cache in their environment, which children inherit, or in their command line."""
    return sorted(_find(cache), key=lambda process: process.number)


def _find(cache: Path) -> Iterator[Process]:
    variable = f"FLASHBED_CACHE={cache}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            name = (folder / "comm").read_text().strip()
        except OSError:  # it has ended meanwhile, or is another user's
            continue
        if command and (variable in environment or f"{cache}/" in command):
            yield Process(int(folder.name), name, command)


def left(cache: Path, bound_s: float = BOUND_S) -> list[Process]:
    """Return the processes that are still running after `bound_s` seconds; [] as soon as there is none."""
    deadline = time.monotonic() + bound_s
    while (running := _seen(cache)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return running


def _seen(cache: Path) -> list[Process]:
    """Return the processes, and look twice if there is none: between fork and exec of a program, a process may have
    neither environment nor command line.
    """
    if not (running := of(cache)):
        time.sleep(0.05)
        running = of(cache)
    return running
