# SPDX-License-Identifier: Apache-2.0
"""A kernel's source tree in git as a user has it, and a cache that has all but kernels of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flashbed import image
from flashbed.common import paths
from flashbed.image import kernel

FLASHBED = str(Path(sys.executable).with_name("flashbed"))

TREE = "linux"
BASE = "v6.1"
"""The tag of the source as Debian has it."""

_PACKAGE = "linux-source-6.1"


def make(folder: Path) -> Path:
    """Both in `folder`, the tree in `linux` and the cache in `cache`."""
    real = paths.cache_root()
    archive = image.open_archive()
    resolved = archive.resolve([_PACKAGE], alone=True)
    kernel.unpack(archive, _PACKAGE, archive.fetch([_PACKAGE], resolved), folder / TREE, ())
    git(folder, "init", "-q")
    git(folder, "add", "-f", ".")
    git(folder, "commit", "-q", "-m", "base")
    git(folder, "tag", BASE)
    (folder / "cache/image").mkdir(parents=True)
    for name in ("debian-amd64", "debian-arm64"):
        (folder / "cache" / name).symlink_to(real / name)
    for entry in (real / "image").iterdir():
        if not entry.name.startswith((".", "linux-own-", "kernel-lines-")):
            (folder / "cache/image" / entry.name).symlink_to(entry)
    return folder


def git(folder: Path, *words: str) -> str:
    """What git says in the tree."""
    person = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "gc.auto=0")
    command = ["git", "-C", folder / TREE, *person, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def edit(folder: Path, file: str, before: str, after: str) -> None:
    """Changes one place of a file of the tree."""
    path = folder / TREE / file
    text = path.read_text()
    assert text.count(before) == 1, f"{file} has {text.count(before)} times: {before}"
    path.write_text(text.replace(before, after))


def commit(folder: Path, name: str) -> None:
    """What was changed becomes the revision of that name, and the tree is the base again."""
    git(folder, "commit", "-q", "-a", "-m", name)
    git(folder, "tag", name)
    git(folder, "reset", "-q", "--hard", BASE)


def flashbed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The finished command, in the folder and with its cache."""
    environment = {**os.environ, "FLASHBED_CACHE": str(folder / "cache")}
    return subprocess.run([FLASHBED, *words], cwd=folder, env=environment, capture_output=True, text=True)
