# SPDX-License-Identifier: Apache-2.0
"""Keep the files of running guests in the host's memory. On a disk they cost a twelfth of a cell's CPU time, and
gigabytes of writes that nobody reads.

The files are in a directory of a tmpfs that only this user may enter. All guests that run at a time get at most half of
the free space of the tmpfs, and half of the host's free memory, as if each filled its medium. Beginnings that guests
share may take the same amount again. Nothing is reserved: if memory runs out, the caller tries again on the disk. Must
not know a medium.
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
"""The environment variable that names the tmpfs. If it is empty, no tmpfs is used."""

T = TypeVar("T")

CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Memory:
    """The host's memory as far as a run may use it."""

    folder: Path | None
    """The run's directory; None if it may use no memory."""
    guests: int
    """The number of guests that run at a time."""

    @contextmanager
    def place(self, content_bytes: int, ram_bytes: int) -> Iterator[Path | None]:
        """Yield a new directory for a guest with `ram_bytes` of RAM and at most `content_bytes` on its medium; None if
        there is no room.
        """
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
        """Return what `run` returns for such a directory. Return None if there is no room, if the host refuses a file
        there, or if `is_lost` says of the result that memory ran out. On the disk it may succeed.
        """
        with self.place(content_bytes, ram_bytes) as place:
            if place is None:
                return None
            try:
                result = run(place)
            except (HostResourceError, OSError):
                return None
            return None if is_lost(result) else result

    def _has_room(self, folder: Path, content_bytes: int, ram_bytes: int) -> bool:
        fits = 2 * self.guests * content_bytes <= shutil.disk_usage(folder).free
        return fits and 2 * self.guests * (content_bytes + ram_bytes) <= available_bytes()


ON_DISK = Memory(None, 1)


@contextmanager
def scratch(guests: int) -> Iterator[Memory]:
    """Yield the memory for a run with `guests` guests at a time. Its directory is locked and removed as by
    locks.scratch().
    """
    with ExitStack() as held:
        folder = None
        if (ours := _ours()) is not None:
            with suppress(HostResourceError):
                folder = held.enter_context(locks.scratch(ours))
        yield Memory(folder, guests)


def clean() -> None:
    """Remove the files of killed runs."""
    if (ours := _ours()) is not None:
        locks.clean(ours)


def available_bytes() -> int:
    """Return the bytes of memory that this process and its children can get without swapping: the least of the host's
    own estimate and of the limits of their control groups. Return 0 if the host does not report it.
    """
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        group = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return 0
    host = [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    return min(*host, *_left_by(CGROUPS / group.lstrip("/"))) if host else 0


def _left_by(group: Path) -> Iterator[int]:
    """Yield the free bytes of a control group and of each group around it. A group without a limit yields nothing; the
    first value is larger than any memory.
    """
    yield 1 << 62
    for parent in (group, *group.parents):
        with suppress(OSError, ValueError):
            yield int((parent / "memory.max").read_text()) - int((parent / "memory.current").read_text())


def _ours() -> Path | None:
    """Return this user's directory, and create it if it is missing. Return None if others may enter it, or own it: its
    name is known to all.
    """
    chosen = os.environ.get(CHOICE, "/dev/shm")
    tmpfs = Path(chosen)
    folder = tmpfs / f"flashbed-{os.getuid()}"
    try:
        if not chosen or not tmpfs.is_mount():
            return None
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    alone = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return folder if alone else None
