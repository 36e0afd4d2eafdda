# SPDX-License-Identifier: Apache-2.0
"""Show the content of the cache as a table: each part, its size, and whether it is ever removed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from flashbed.common.page import Rows
from flashbed.common.units import rough_size
from flashbed.image import unused

CACHE_FOLDERS = {
    "results": "what was measured: never removed by itself",
    "elsewhere": "results imported from other computers: never removed by itself",
    "media": "media that are kept: never removed by itself",
    "nas": "disks of appliances: never removed by itself",
    "allowed": "commands that are allowed",
    "failures": "failed attempts, for `flashbed show`",
    "image": "kernels, modules, programs: made again",
    "checkers": "programs that check file systems, from an image",
    "measurements": "what results say, worked out: made again",
    "conditions": "media in a condition: made again",
    "kernels": "sources of your own kernels, and their objects: objects are made again",
    r"debian-\w+": "packages and sources of Debian's: fetched again, as long as its archive has these versions",
    "ccache": "objects of small kernels, which ccache keeps to a size of its own",
    "shared": "files of a cluster",
    "work": "of runs under way",
}
"""The meaning of each directory of the cache."""

DAYS = 30
"""Days without use after which an entry should be removed."""


def parts(root: Path) -> Rows:
    """Return directory, size and meaning of each part of the cache, the largest first."""
    sizes = {path.name: unused.on_disk(path) for path in root.iterdir()} if root.is_dir() else {}
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    return [(name, rough_size(sizes[name]), _meaning(name)) for name in ordered]


def _meaning(name: str) -> str:
    return next(
        (meaning for pattern, meaning in CACHE_FOLDERS.items() if re.fullmatch(pattern, name)), "not the lab's own"
    )


def advice(root: Path) -> str:
    """Return what could be removed, and how."""
    now = time.time()
    old = [entry.size_bytes for entry in unused.entries(root) if entry.unused_days(now) >= DAYS]
    if not old:
        return f"Nothing that can be made again has been unused for {DAYS} days."
    entries, pronoun = ("1 entry was", "it") if len(old) == 1 else (f"{len(old)} entries were", "them")
    return (
        f"{entries} not used for {DAYS} days and can be made again ({rough_size(sum(old))}): "
        f"`flashbed cache --remove-unused {DAYS}` removes {pronoun}."
    )


def removed(root: Path, days: int) -> Iterator[str]:
    """Remove what was not used for so many days. Yield a line for each entry, and one for the total. Raises
    HostResourceError.
    """
    number = total = 0
    for name, size in unused.remove(root, days):
        number, total = number + 1, total + size
        yield f"{name}: removed, {rough_size(size)}"
    yield f"{number} {'entry' if number == 1 else 'entries'} removed, {rough_size(total)}; no result was touched."
