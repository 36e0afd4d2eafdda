# SPDX-License-Identifier: Apache-2.0
"""What of the cache can be made again: how large it is, when it was last used, and how it goes.

Results, imports, kept media and packages are none of it. Must not know what an entry is for.
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
from flashbed.image.kernel import TREE

PLACES = ("image", "conditions", "kernels")
"""Folders of the cache that have entries which can be made again, each with a lock beside it."""

DAY_S = 86_400.0

_OBJECTS = "linux-objects-"
"""How the folders begin in which small kernels are compiled."""

_OLD = ".old"


@dataclass(frozen=True)
class Remakable:
    """An entry that can be made again."""

    folder: Path

    @property
    def name(self) -> str:
        """Its path from the cache's root."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def size_bytes(self) -> int:
        """What it takes of the disk."""
        return on_disk(self.folder)

    @property
    def used_s(self) -> float:
        """When it was last used, in seconds since the epoch. An entry of a build notes it to an hour (cache.py); a
        folder of objects is used whenever something is compiled in it.
        """
        manifest = self.folder / MANIFEST
        files = [manifest] if manifest.exists() else [self.folder, *self.folder.iterdir()]
        return max(path.lstat().st_mtime for path in files)

    def unused_days(self, now_s: float) -> int:
        """Whole days since then."""
        return max(0, int((now_s - self.used_s) // DAY_S))

    def remove(self, days: int) -> bool:
        """Remove it if it was not used for so many days; False if it was, or if another run has its lock. Raises
        HostResourceError.
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
                self.folder.rename(old)  # whole or gone, if this is killed
            except FileNotFoundError:
                return False
            except OSError as error:
                raise host_refusal(self.folder, error) from None
            locks.remove(old)
        return True


def entries(root: Path) -> Iterator[Remakable]:
    """Yield what can be made again of the cache `root`."""
    for place in PLACES:
        with suppress(FileNotFoundError, NotADirectoryError):
            for folder in sorted((root / place).iterdir()):
                if not folder.name.startswith(".") and _can_be_made_again(folder):
                    yield Remakable(folder)


def remove(root: Path, days: int) -> Iterator[tuple[str, int]]:
    """Remove what was not used for so many days, 1 at least; yield the name of each entry and its bytes.

    Raises HostResourceError while a run is under way, which may use for days what it looked at when it began.
    """
    locks.clean(root / "work")
    if any((root / "work").glob("*.lock")):
        raise HostResourceError(
            f"{root}: a run is under way, and may use any of it; nothing is removed, ask again later"
        )
    for left in (root / "kernels").glob(f".*{_OLD}"):
        locks.remove(left)
    for entry in entries(root):
        size = entry.size_bytes
        if entry.unused_days(time.time()) >= days and entry.remove(days):
            yield entry.name, size


def _can_be_made_again(folder: Path) -> bool:
    return (folder / MANIFEST).is_file() or (folder / TREE).is_dir() or folder.name.startswith(_OBJECTS)


def on_disk(place: Path) -> int:
    """The bytes that a file, or all below a folder, takes of the disk; of holes none. Links are not followed."""
    total, left = 0, [place]
    while left:
        path = left.pop()
        with suppress(OSError):  # another run removes it meanwhile
            found = path.lstat()
            total += found.st_blocks * 512
            if path.is_dir() and not path.is_symlink():
                left += [Path(entry.path) for entry in os.scandir(path)]
    return total
