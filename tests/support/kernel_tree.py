# SPDX-License-Identifier: Apache-2.0
"""A kernel's source tree in git, as a user has it, and a cache with everything except kernels built from it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from flashbed.image import kernel, stores
from tests.support import own_cache
from tests.support.own_cache import flashbed as flashbed

TREE = "linux"
BASE = "v6.1"
"""The tag of Debian's source."""

_PACKAGE = "linux-source-6.1"


def make(folder: Path) -> Path:
    """Make both in `folder`: the tree in `linux` and the cache in `cache`."""
    archive = stores.open_archive()
    resolved = archive.resolve([_PACKAGE], alone=True)
    kernel.unpack(archive, _PACKAGE, archive.fetch([_PACKAGE], resolved), folder / TREE, ())
    git(folder, "init", "-q")
    git(folder, "add", "-f", ".")
    git(folder, "commit", "-q", "-m", "base")
    git(folder, "tag", BASE)
    own_cache.make(folder)
    return folder


def git(folder: Path, *words: str) -> str:
    """Return git's output in the tree."""
    person = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "gc.auto=0")
    command: list[str | Path] = ["git", "-C", folder / TREE, *person, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, name: str) -> None:
    """Make the changes a revision of that name, and return the tree to the base."""
    git(folder, "commit", "-q", "-a", "-m", name)
    git(folder, "tag", name)
    git(folder, "reset", "-q", "--hard", BASE)
