# SPDX-License-Identifier: Apache-2.0
"""The directories in which users' kernels are compiled: one for each home of sources, so that the next patch compiles
only what it changes.

Must not know how a kernel is compiled.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import locks, paths
from flashbed.common.digest import digest_bytes
from flashbed.image.kernel import TREE
from flashbed.image.kernel_sources import KernelSource

_log = logging.getLogger("flashbed")


@dataclass(frozen=True)
class Work:
    """A directory in which kernels of one home are compiled, by one build at a time."""

    folder: Path

    @property
    def tree(self) -> Path:
        return self.folder / TREE

    @property
    def built(self) -> Path:
        """Return the file with the tree's hash and the version of all objects. It is absent while objects are of
        several trees.
        """
        return self.folder / "built"

    def is_of(self, wanted: KernelSource, version: str) -> bool:
        """Return True if all objects are of this source, compiled as this version."""
        try:
            return self.built.read_text() == f"{wanted.tree} {version}"
        except OSError:
            return False

    @property
    def index(self) -> Path:
        """Return git's index of the tree."""
        return self.folder / "index"


def root() -> Path:
    """Return the parent directory of users' sources and of their objects."""
    return paths.cache_root() / "kernels"


@contextmanager
def work_on(wanted: KernelSource, version: str) -> Iterator[Work]:
    """Lock and yield the directory of this home's kernels, or of another home that has exactly this kernel. Other
    processes wait.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(wanted.home).name)
    own = root() / f"{plain}-{digest_bytes(f'{wanted.home} {version}'.encode())[:12]}"
    candidates = (Work(place.parent) for place in (own / "built", *sorted(root().glob("*/built"))))
    name = next((work.folder for work in candidates if work.is_of(wanted, version)), own).name

    def say() -> None:
        _log.warning("another run compiles a kernel of %s; waiting for it", wanted.home)

    with locks.wait_for(root() / f".{name}.lock", say):
        folder = root() / name
        folder.mkdir(parents=True, exist_ok=True)
        yield Work(folder)
