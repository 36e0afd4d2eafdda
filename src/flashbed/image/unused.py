# SPDX-License-Identifier: Apache-2.0
"""List and remove cache entries that can be made again: their size and last use.

Results, imports, kept media and packages are not among them. Must not know what an entry is for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import locks
from flashbed.common.errors import HostResourceError, host_refusal
from flashbed.image.cache import MANIFEST
from flashbed.image.kernel import SOURCE_TREE

PLACES = ("image", "conditions", "kernels")
"""Directories of the cache with such entries, each with a lock beside it."""

DAY_S = 86_400.0

_OBJECTS = "linux-objects-"
"""The prefix of the directories in which small kernels are compiled."""

_OLD = ".old"


@dataclass(frozen=True)
class Remakable:
    """A cache entry that can be made again."""

    folder: Path

    @property
    def name(self) -> str:
        """Return its path relative to the cache."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def size_bytes(self) -> int:
        """Return its disk usage."""
        return on_disk(self.folder)

    @property
    def used_s(self) -> float:
        """Return the time of its last use, in seconds since the epoch. An entry of a build notes its use to the hour
        (cache.py); a directory of objects is used when something is compiled in it.
        """
        manifest = self.folder / MANIFEST
        files = [manifest] if manifest.exists() else [self.folder, *self.folder.iterdir()]
        return max(path.lstat().st_mtime for path in files)

    def unused_days(self, now_s: float) -> int:
        """Return the whole days since its last use."""
        return max(0, int((now_s - self.used_s) // DAY_S))

    def remove(self, days: int) -> bool:
        """Remove the entry if it was not used for so many days. Return False if it was, or if another run holds its
        lock. Raises HostResourceError.
        """
        lock = locks.take(self.folder.with_name(f".{self.folder.name}.lock"))
        if lock is None:
            return False
        with lock:
            try:
                if self.unused_days(time.time()) < days:
                    return False
                old = self.folder.with_name(f".{self.folder.name}{_OLD}")
                locks.remove(old)
                self.folder.rename(old)  # atomic, in case this process is killed
            except FileNotFoundError:
                return False
            except OSError as error:
                raise host_refusal(self.folder, error) from None
            locks.remove(old)
        return True


def entries(root: Path) -> Iterator[Remakable]:
    """Yield the entries of the cache `root` that can be made again."""
    for place in PLACES:
        with suppress(FileNotFoundError, NotADirectoryError):
            for folder in sorted((root / place).iterdir()):
                if not folder.name.startswith(".") and _can_be_made_again(folder):
                    yield Remakable(folder)


def remove(root: Path, days: int) -> Iterator[tuple[str, int]]:
    """Remove the entries that were not used for so many days, at least 1. Yield the name and bytes of each.

    Raises HostResourceError while a run is under way, because a run may use for days what it found when it began.
    """
    locks.clean(root / "work")
    if any((root / "work").glob("*.lock")):
        raise HostResourceError(
            f"{root}: a run is under way, and may use any entry; nothing was removed; run this again later"
        )
    for left in (root / "kernels").glob(f".*{_OLD}"):
        locks.remove(left)
    for entry in entries(root):
        size = entry.size_bytes
        if entry.unused_days(time.time()) >= days and entry.remove(days):
            yield entry.name, size


def _can_be_made_again(folder: Path) -> bool:
    return (folder / MANIFEST).is_file() or (folder / SOURCE_TREE).is_dir() or folder.name.startswith(_OBJECTS)


def on_disk(place: Path) -> int:
    """Return the disk usage of a file, or of all files below a directory, in bytes. Holes take none. Links are not
    followed.
    """
    total, left = 0, [place]
    while left:
        path = left.pop()
        with suppress(OSError):  # another run is removing it
            status = path.lstat()
            total += status.st_blocks * 512
            if path.is_dir() and not path.is_symlink():
                left += [Path(entry.path) for entry in os.scandir(path)]
    return total
