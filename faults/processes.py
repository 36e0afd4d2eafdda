# SPDX-License-Identifier: Apache-2.0
"""The processes that work for one cache: the lab, and whatever it started. Must not know why anyone asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BOUND_S = 10.0
"""Within so many seconds of a run's end nothing that it started may be left; it takes less than two, and the host may
be busy."""


@dataclass(frozen=True)
class Process:
    """A process that lives; `name` is that of its program, 15 letters at most, as Linux keeps it."""

    number: int
    name: str
    command: str

    @property
    def is_guest(self) -> bool:
        """A machine that runs, and not QEMU that is asked for its version or for its CPUs."""
        return self.name.startswith("qemu-system") and " -kernel " in self.command


def of(cache: Path) -> list[Process]:
    """All that have this cache in their environment or their command line: children inherit the former."""
    return sorted(_find(cache), key=lambda process: process.number)


def _find(cache: Path) -> Iterator[Process]:
    told = f"FLASHBED_CACHE={cache}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            name = (folder / "comm").read_text().strip()
        except OSError:  # it has ended meanwhile, or is another user's
            continue
        if command and (told in environment or f"{cache}/" in command):
            yield Process(int(folder.name), name, command)


def left(cache: Path, bound_s: float = BOUND_S) -> list[Process]:
    """Those that are still there after the bound, or none as soon as there is none."""
    deadline = time.monotonic() + bound_s
    while (found := _seen(cache)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _seen(cache: Path) -> list[Process]:
    """Looks again if there is none: between two programs a process has neither environment nor command line."""
    if not (found := of(cache)):
        time.sleep(0.05)
        found = of(cache)
    return found
