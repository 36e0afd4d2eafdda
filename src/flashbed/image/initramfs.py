# SPDX-License-Identifier: Apache-2.0
"""Make the initial RAM file systems of guests, as cpio archives.

The kernel unpacks concatenated archives. So a cell gets a common base, its tools and its job, and its RAM is not filled
with tools of other file systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.image import cpio
from flashbed.image.cache import Cache, Entry

ARCHIVE = "archive.cpio"

RECIPE_VERSION = 1
"""Raise it if `pack` makes other nodes of the same files."""

SYSTEM_FOLDERS = ("/bin", "/dev", "/proc", "/sys", "/tmp")

APPLETS = [
    "cat",
    "dd",
    "df",
    "echo",
    "free",
    "grep",
    "insmod",
    "ls",
    "mkdir",
    "mkfifo",
    "mount",
    "poweroff",
    "rm",
    "sh",
    "sleep",
    "sync",
    "tail",
    "tar",
    "true",
    "false",
    "umount",
    "usleep",
]
"""The busybox applets that the guest's scripts use. With all applets, some would shadow programs such as mke2fs."""


@dataclass(frozen=True)
class InitramfsFile:
    """A file in the guest: its absolute path there, its source, and its mode."""

    name: str
    source: Path
    mode: int = 0o755


def base_files(busybox: Path, ours: Mapping[str, Path]) -> list[InitramfsFile]:
    """Return the files of every guest: busybox, the lab's scripts, and the lab's programs by name."""
    guest = paths.guest()
    return [
        InitramfsFile("/init", guest / "init"),
        InitramfsFile("/lib/flashbed/cell", guest / "cell"),
        InitramfsFile("/lib/flashbed/steps", guest / "steps", 0o644),
        InitramfsFile("/lib/flashbed/insert", guest / "insert"),
        InitramfsFile("/lib/flashbed/mark", guest / "mark"),
        InitramfsFile("/lib/flashbed/remount", guest / "remount"),
        InitramfsFile("/lib/flashbed/progress", guest / "progress"),
        InitramfsFile("/bin/busybox", busybox),
        *(InitramfsFile(f"/bin/{name}", program) for name, program in ours.items()),
    ]


def module(name: str, source: Path) -> InitramfsFile:
    """Return a kernel module at the path where the guest's scripts look for it."""
    return InitramfsFile(f"/lib/flashbed/{name}.ko", source, 0o644)


def archive(cache: Cache, name: str, files: Sequence[InitramfsFile], *, system: bool = False) -> Entry:
    """Return a cached cpio archive of `files`. With `system`, add the directories, device node and applets with which a
    guest starts.
    """
    contents = [(file.name, digest_file(file.source), file.mode) for file in files]
    recipe = {
        "files": contents,
        "system": (SYSTEM_FOLDERS, APPLETS) if system else None,
        "version": [RECIPE_VERSION, cpio.RECIPE_VERSION],
    }

    def fill(folder: Path) -> None:
        (folder / ARCHIVE).write_bytes(pack(files, system=system))

    return cache.entry(f"cpio-{name}", recipe, fill)


def job_archive(job: Mapping[str, bytes], to: Path) -> None:
    """Write the archive of a cell's own files, which land in the guest's /job."""
    files = [cpio.program(f"/job/{name}", data) for name, data in sorted(job.items())]
    to.write_bytes(cpio.archive([*cpio.folders_of(files), *files]))


def pack(files: Sequence[InitramfsFile], *, system: bool = False) -> bytes:
    """Return an archive whose bytes depend only on names, modes and contents."""
    ordered = sorted(files, key=lambda file: file.name)
    nodes = [cpio.file(file.name, file.source.read_bytes(), file.mode) for file in ordered]
    folders = {node.path: node for node in cpio.folders_of(nodes)}
    if system:
        folders |= {path: cpio.folder(path) for path in SYSTEM_FOLDERS}
    above = [folders[path] for path in sorted(folders)]
    if system:
        above.append(cpio.character_device("/dev/console", 5, 1))
        above += [cpio.link(f"/bin/{applet}", "busybox") for applet in APPLETS]
    return cpio.archive([*above, *nodes])
