# SPDX-License-Identifier: Apache-2.0
"""The folders in which kernels of the user's own are compiled: one for each home of sources, so that the next patch
compiles only what it changes.

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
    """Where kernels of one home are compiled, by one build at a time."""

    folder: Path

    @property
    def tree(self) -> Path:
        return self.folder / TREE

    @property
    def built(self) -> Path:
        """Has the hash of the tree and the version that all objects are of; is not there while they are of several."""
        return self.folder / "built"

    def is_of(self, wanted: KernelSource, version: str) -> bool:
        """Whether all objects are of this source, compiled as this version."""
        try:
            return self.built.read_text() == f"{wanted.tree} {version}"
        except OSError:
            return False

    @property
    def index(self) -> Path:
        """Git's, of what lies in the tree."""
        return self.folder / "index"


def root() -> Path:
    """Sources of the user's as git has them, and what is compiled of them."""
    return paths.cache_root() / "kernels"


@contextmanager
def work_on(wanted: KernelSource, version: str) -> Iterator[Work]:
    """The place where this home's kernels are compiled, or that of another home which has just this kernel; others
    wait.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(wanted.home).name)
    own = root() / f"{plain}-{digest_bytes(f'{wanted.home} {version}'.encode())[:12]}"
    there = (Work(place.parent) for place in (own / "built", *sorted(root().glob("*/built"))))
    name = next((work.folder for work in there if work.is_of(wanted, version)), own).name

    def say() -> None:
        _log.warning("another run compiles a kernel of %s; waiting for it", wanted.home)

    with locks.wait_for(root() / f".{name}.lock", say):
        folder = root() / name
        folder.mkdir(parents=True, exist_ok=True)
        yield Work(folder)
