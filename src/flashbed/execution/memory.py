# SPDX-License-Identifier: Apache-2.0
"""A place in the host's memory for the files of a guest while it runs: on a disk they cost a twelfth of a cell's CPU
time, and gigabytes of writes that nobody reads.

A place is given only where it does no harm: in a tmpfs, in a folder that is this user's alone, and of what that and
the host have free no more than half, were each guest that runs at a time to fill its medium. Beginnings that guests
share may take as much again. Nothing is held for them, so what comes to nothing for want of memory has to be tried
again on the disk. Knows no medium.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from flashbed.common import locks
from flashbed.common.errors import HostResourceError

CHOICE = "FLASHBED_MEMORY"
"""The environment's word for the tmpfs; empty: none."""

T = TypeVar("T")

CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Memory:
    """What a run has of the host's memory."""

    folder: Path | None
    """None: nothing."""
    guests: int
    """How many run at a time."""

    @contextmanager
    def place(self, content_bytes: int, ram_bytes: int) -> Iterator[Path | None]:
        """A folder of its own for a guest with so much RAM and so much on its medium; None where there is no room."""
        with ExitStack() as held:
            place = None
            with suppress(OSError):
                if self.folder is not None and self._has_room(self.folder, content_bytes, ram_bytes):
                    made = TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True)
                    place = Path(held.enter_context(made))
            yield place

    def carried(
        self, content_bytes: int, ram_bytes: int, run: Callable[[Path], T], is_lost: Callable[[T], bool]
    ) -> T | None:
        """What `run` gives in such a folder. None if there is none, or if the host's memory, or this place in it, was
        not there to the end: on the disk it may be.
        """
        with self.place(content_bytes, ram_bytes) as place:
            if place is None:
                return None
            try:
                found = run(place)
            except (HostResourceError, OSError):
                return None
            return None if is_lost(found) else found

    def _has_room(self, folder: Path, content_bytes: int, ram_bytes: int) -> bool:
        fits = 2 * self.guests * content_bytes <= shutil.disk_usage(folder).free
        return fits and 2 * self.guests * (content_bytes + ram_bytes) <= available_bytes()


NONE = Memory(None, 1)


@contextmanager
def scratch(guests: int) -> Iterator[Memory]:
    """What a run may have that starts `guests` at a time: held and removed as `locks.scratch` has it."""
    with ExitStack() as held:
        folder = None
        if (ours := _ours()) is not None:
            with suppress(HostResourceError):
                folder = held.enter_context(locks.scratch(ours))
        yield Memory(folder, guests)


def clean() -> None:
    """Removes what killed runs have left."""
    if (ours := _ours()) is not None:
        locks.clean(ours)


def available_bytes() -> int:
    """Memory that this process and its children can get without swapping: by the host's own estimate, and by what
    control groups leave them. 0 where the host does not tell.
    """
    try:
        told = Path("/proc/meminfo").read_text().splitlines()
        group = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return 0
    host = [int(line.split()[1]) << 10 for line in told if line.startswith("MemAvailable:")]
    return min(*host, *_left_by(CGROUPS / group.lstrip("/"))) if host else 0


def _left_by(group: Path) -> Iterator[int]:
    """What a control group and those around it have left; as much as there is, if none has a limit."""
    yield 1 << 62
    for one in (group, *group.parents):
        with suppress(OSError, ValueError):
            yield int((one / "memory.max").read_text()) - int((one / "memory.current").read_text())


def _ours() -> Path | None:
    """The folder of this user, made if it is not there; None where it is not this user's alone: all know its name."""
    chosen = os.environ.get(CHOICE, "/dev/shm")
    tmpfs = Path(chosen)
    folder = tmpfs / f"flashbed-{os.getuid()}"
    try:
        if not chosen or not tmpfs.is_mount():
            return None
        folder.mkdir(mode=0o700, exist_ok=True)
        told = folder.lstat()
    except OSError:
        return None
    alone = stat.S_ISDIR(told.st_mode) and told.st_uid == os.getuid() and not told.st_mode & 0o077
    return folder if alone else None
