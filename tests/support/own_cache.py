# SPDX-License-Identifier: Apache-2.0
"""A user's directory with a cache of its own, and the command in it. The cache links to everything built before. What a
test builds in addition, and all results, stay in the directory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flashbed.common import paths

FLASHBED = str(Path(sys.executable).with_name("flashbed"))

CACHE = "cache"

OF_USERS = ("linux-own-", "kernel-lines-", "own-module-", "cpio-module-mine-")
"""The beginning of the names of cache entries that tests build from a user's sources."""


def make(folder: Path) -> Path:
    """Make the cache `cache` in `folder`."""
    real, own = paths.cache_root(), folder / CACHE
    (own / "image").mkdir(parents=True)
    for name in ("debian-amd64", "debian-arm64"):
        (own / name).symlink_to(real / name)
    for entry in (real / "image").iterdir():
        if not entry.name.startswith((".", *OF_USERS)):
            (own / "image" / entry.name).symlink_to(entry)
    return own


def flashbed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Return the finished command, run in the directory with its cache."""
    environment = {**os.environ, "FLASHBED_CACHE": str(folder / CACHE)}
    return subprocess.run([FLASHBED, *words], cwd=folder, env=environment, capture_output=True, text=True)


def said(folder: Path, *words: str) -> str:
    """Return the output of a command that must succeed."""
    done = flashbed(folder, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
