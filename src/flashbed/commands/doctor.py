# SPDX-License-Identifier: Apache-2.0
"""What is missing on this machine, and the command that mends it.

Tools only: nothing here fetches, builds or installs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths, programs
from flashbed.common.errors import SetupError
from flashbed.common.units import describe_size, rough_size
from flashbed.image import emulator

TOOLS = {
    "cc": "gcc",
    "make": "make",
    "bc": "bc",
    "bison": "bison",
    "flex": "flex",
    "patch": "patch",
    "xz": "xz-utils",
    "dpkg-source": "dpkg-dev",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "x86_64-linux-gnu-gcc": "gcc-x86-64-linux-gnu",
    "setpriv": "util-linux",
    "timeout": "coreutils",
    "fsck.fat": "dosfstools",
    "fsck.exfat": "exfatprogs",
    "xfs_repair": "xfsprogs",
    "e2fsck": "e2fsprogs",
    "fsck.f2fs": "f2fs-tools",
}
"""Program and the Debian package that has it."""

WANTED_FREE_BYTES = 6 << 30
"""A guest's kernel tree, packages and one 2 GiB medium for each of two cores."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at: in order, or with what mends it."""

    subject: str
    fine: bool
    detail: str
    remedy: str = ""


def examine() -> Iterator[Finding]:
    """Looks at everything that a run needs."""
    for tool, package in TOOLS.items():
        place = programs.found(tool)
        yield Finding(tool, place is not None, str(place or "not installed"), f"apt-get install {package}")
    missing = emulator.missing_packages()
    yield Finding(
        "what the emulator is built with",
        not missing,
        f"not installed: {', '.join(missing)}" if missing else "installed",
        f"apt-get install {' '.join(missing)}",
    )
    yield _disk()


def _disk() -> Finding:
    try:
        folder = paths.cache_root()
    except SetupError as error:
        what, _, remedy = error.message.partition("; ")
        return Finding("the cache", False, what, remedy)
    existing = next(parent for parent in (folder, *folder.parents) if os.access(parent, os.F_OK))
    another = "FLASHBED_CACHE to a folder"
    if not existing.is_dir():
        return Finding(str(folder), False, f"{existing} is no folder", f"set {another} that can be made")
    if refused := next((str(one) for one in (existing, *_inside(folder)) if not os.access(one, os.W_OK)), None):
        read_only = os.statvfs(refused).f_flag & os.ST_RDONLY
        why = "lies on a disk that is read-only" if read_only else "cannot be written by this user"
        return Finding(str(folder), False, f"{refused} {why}", f"mend that, or set {another} that can be written")
    free = shutil.disk_usage(existing).free
    remedy = f"make room, or set {another} with {describe_size(WANTED_FREE_BYTES)} free"
    return Finding(str(folder), free >= WANTED_FREE_BYTES, f"{rough_size(free)} free", remedy)


def _inside(folder: Path) -> list[Path]:
    """The folders of a cache that is there."""
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []
