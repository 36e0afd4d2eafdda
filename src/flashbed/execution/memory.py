# SPDX-License-Identifier: Apache-2.0
"""A place in the host's memory for what a medium stores, while its guest runs: a file on a disk costs the host a
twelfth of a cell's CPU time, and gigabytes of writes that nobody reads.

A place is taken only where it cannot do harm: a tmpfs of this user, with room for what every guest that runs at a time
may write, and as much memory free. Else the file lies in the work folder, and nothing else changes. Knows no medium.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from flashbed.common import locks
from flashbed.common.errors import HostResourceError

TMPFS = Path("/dev/shm")
"""Where Linux systems have one that every user may write to."""


def root() -> Path:
    """The folder of this user, for scratch folders of runs."""
    return TMPFS / f"flashbed-{os.getuid()}"


@dataclass(frozen=True)
class Memory:
    """What a run has of the host's memory."""

    folder: Path | None
    """None: nothing."""
    guests: int
    """How many run at a time."""

    @contextmanager
    def place(self, content_bytes: int, ram_bytes: int, otherwise: Path) -> Iterator[Path]:
        """A folder of its own for the content of a guest's medium, or `otherwise`."""
        if self.folder is None or not self._has_room(self.folder, content_bytes, ram_bytes):
            yield otherwise
            return
        with TemporaryDirectory(dir=self.folder) as place:
            yield Path(place)

    def _has_room(self, folder: Path, content_bytes: int, ram_bytes: int) -> bool:
        """Whether all guests may fill a medium of that size each."""
        fits = self.guests * content_bytes <= shutil.disk_usage(folder).free
        return fits and self.guests * (content_bytes + ram_bytes) <= available_bytes()


NONE = Memory(None, 1)


@contextmanager
def scratch(guests: int) -> Iterator[Memory]:
    """What a run may have that starts `guests` at a time: held and removed as `locks.scratch` has it."""
    with ExitStack() as held:
        folder = None
        if _is_ours(root()):
            with suppress(HostResourceError):
                folder = held.enter_context(locks.scratch(root()))
        yield Memory(folder, guests)


def clean() -> None:
    """Removes what killed runs have left."""
    if _is_ours(root()):
        locks.clean(root())


def available_bytes() -> int:
    """Memory that this host can give without swapping, by its own estimate."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


def _is_ours(folder: Path) -> bool:
    """Whether the folder, which is made if it is not there, is this user's alone: its name is known to all."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        told = folder.lstat()
    except OSError:
        return False
    return folder.is_dir() and not folder.is_symlink() and told.st_uid == os.getuid() and not told.st_mode & 0o077
