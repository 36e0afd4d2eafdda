# SPDX-License-Identifier: Apache-2.0
"""Check what is missing on this machine, and name the command that installs it.

Nothing here builds or installs. From each Debian mirror one small file is fetched, to check that it answers.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from flashbed.commands import images
from flashbed.common import paths, programs
from flashbed.common.errors import FlashbedError, SetupError
from flashbed.common.units import describe_size, rough_size
from flashbed.image import apt, emulator, lockfile
from flashbed.study.format import DEFAULTS

BUILD_TOOLS = {
    "cc": "gcc",
    "make": "make",
    "bc": "bc",
    "bison": "bison",
    "flex": "flex",
    "patch": "patch",
    "xz": "xz-utils",
    "ccache": "ccache",
    "dpkg-source": "dpkg-dev",
    "dpkg-deb": "dpkg",
    "apt-get": "apt",
    "git": "git",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "x86_64-linux-gnu-gcc": "gcc-x86-64-linux-gnu",
}
"""Maps a program that builds parts of guests to its Debian package."""

RUN_TOOLS = {
    "setpriv": "util-linux",
    "timeout": "coreutils",
    "fsck.fat": "dosfstools",
    "fsck.exfat": "exfatprogs",
    "xfs_repair": "xfsprogs",
    "e2fsck": "e2fsprogs",
    "fsck.f2fs": "f2fs-tools",
}
"""Maps a program that every host needs to its Debian package. The checkers may come with an imported image."""

WANTED_FREE_BYTES = 6 << 30
"""Space for a guest's kernel tree, the packages, and one 2 GiB medium for each of two cores."""


@dataclass(frozen=True)
class HostCheck:
    """One check: it is in order, or names the remedy."""

    subject: str
    fine: bool
    detail: str
    remedy: str = ""
    needed: bool = True
    """If False, a failed check is only a caution."""


def examine() -> Iterator[HostCheck]:
    """Yield every check of what a run needs."""
    imported = _imported_checkers()
    for tool, package in RUN_TOOLS.items():
        place = programs.find(tool, imported)
        yield HostCheck(tool, place is not None, str(place or "not installed"), f"apt-get install {package}")
    yield from _build_tools(needed=imported is None)
    yield _keys(needed=imported is None)
    if programs.find("apt-get"):
        yield from _mirrors(needed=imported is None and not images.is_built(DEFAULTS["kernel"]))
    yield _disk()


def _build_tools(*, needed: bool) -> Iterator[HostCheck]:
    absent = "not installed" if needed else "not installed; only for parts that are not here yet"
    for tool, package in BUILD_TOOLS.items():
        place = programs.find(tool)
        yield HostCheck(tool, place is not None, str(place or absent), f"apt-get install {package}", needed)
    missing = emulator.missing_packages()
    yield HostCheck(
        "what the emulator is built with",
        not missing,
        f"{absent}: {', '.join(missing)}" if missing else "installed",
        f"apt-get install {' '.join(missing)}",
        needed,
    )


def _keys(*, needed: bool) -> HostCheck:
    readable = os.access(apt.KEYRING, os.R_OK)
    detail = f"{apt.KEYRING}{'' if readable else ' cannot be read'}"
    return HostCheck("Debian's keys", readable, detail, f"apt-get install {apt.KEYRING_PACKAGE}", needed)


def _mirrors(*, needed: bool) -> Iterator[HostCheck]:
    """Yield for each archive whether a mirror answers."""
    try:
        lists = apt.known_mirrors().lists(lockfile.current_pins().suite)
    except FlashbedError as error:
        yield HostCheck("mirrors of Debian", False, error.problem, error.remedy, needed)
        return
    for archive, addresses in lists.items():
        yield _mirror(archive, addresses, needed)


def _mirror(archive: str, addresses: Iterable[str], needed: bool) -> HostCheck:
    """Return whether a mirror of this archive answers. `addresses` are those of its lists, asked until the first
    answers.
    """
    subject, refused = f"a mirror of {archive}", []
    for address in addresses:
        if not (why := apt.refusal(address)):
            return HostCheck(subject, True, address)
        refused.append(f"{address}: {why}")
    refusals = "; ".join(refused) or "none known"
    ending = f", one of them with {archive} at its end" if archive == apt.SECURITY else ""
    remedy = f"set {apt.MIRRORS_VARIABLE} to the addresses of mirrors that answer{ending}"
    return HostCheck(subject, False, refusals, remedy, needed)


def _imported_checkers() -> Path | None:
    """Return the directory of an imported image's checkers; None if no image was imported. An image holds what its
    studies need.
    """
    try:
        folder = paths.checkers()
    except SetupError:
        return None
    return folder if folder.is_dir() else None


def _disk() -> HostCheck:
    try:
        folder = paths.cache_root()
    except SetupError as error:
        return HostCheck("the cache", False, error.problem, error.remedy)
    existing = next(parent for parent in (folder, *folder.parents) if os.access(parent, os.F_OK))
    another = "FLASHBED_CACHE to a folder"
    if not existing.is_dir():
        return HostCheck(str(folder), False, f"{existing} is no folder", f"set {another} that can be made")
    if refused := next((str(place) for place in (existing, *_inside(folder)) if not os.access(place, os.W_OK)), None):
        read_only = os.statvfs(refused).f_flag & os.ST_RDONLY
        why = "lies on a disk that is read-only" if read_only else "cannot be written by this user"
        return HostCheck(str(folder), False, f"{refused} {why}", f"mend that, or set {another} that can be written")
    free = shutil.disk_usage(existing).free
    remedy = f"make room, or set {another} with {describe_size(WANTED_FREE_BYTES)} free"
    return HostCheck(str(folder), free >= WANTED_FREE_BYTES, f"{rough_size(free)} free", remedy)


def _inside(folder: Path) -> list[Path]:
    """Yield the directories of an existing cache."""
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []
