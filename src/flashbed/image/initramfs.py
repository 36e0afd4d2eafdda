# SPDX-License-Identifier: Apache-2.0
"""Initial RAM file systems of guests, as cpio archives.

The kernel unpacks archives laid one behind the other, so a cell gets a common base, its tools and its job, and its
RAM is not filled with the tools of other file systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.image import cpio
from flashbed.image.cache import Cache, Entry, digest_tree

ARCHIVE = "archive.cpio"

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
"""busybox applets that the guest's scripts use. Not all of them: some would shadow mke2fs and the like."""


@dataclass(frozen=True)
class File:
    """A file in the guest: its absolute path there, where it comes from, its mode."""

    name: str
    source: Path
    mode: int = 0o755


def base_files(busybox: Path, ours: Mapping[str, Path]) -> list[File]:
    """What every guest has: busybox, our scripts, our programs by name."""
    guest = paths.guest()
    return [
        File("/init", guest / "init"),
        File("/lib/flashbed/cell", guest / "cell"),
        File("/lib/flashbed/insert", guest / "insert"),
        File("/lib/flashbed/mark", guest / "mark"),
        File("/lib/flashbed/remount", guest / "remount"),
        File("/lib/flashbed/progress", guest / "progress"),
        File("/bin/busybox", busybox),
        *(File(f"/bin/{name}", program) for name, program in ours.items()),
    ]


def module(name: str, source: Path) -> File:
    """A kernel module, where the guest's scripts look for it."""
    return File(f"/lib/flashbed/{name}.ko", source, 0o644)


def archive(cache: Cache, name: str, files: Sequence[File], *, system: bool = False) -> Entry:
    """A cached cpio archive of `files`; with `system`, also the folders, device node and applets that a guest starts
    with.
    """
    contents = [(file.name, digest_file(file.source), file.mode) for file in files]
    recipe = {"files": contents, "system": system and APPLETS, "script": digest_tree(Path(cpio.__file__))}

    def fill(folder: Path) -> None:
        (folder / ARCHIVE).write_bytes(pack(files, system=system))

    return cache.entry(f"cpio-{name}", recipe, fill)


def job_archive(job: Mapping[str, bytes], to: Path) -> None:
    """Writes the archive with a cell's own files, which land in the guest's /job."""
    files = [cpio.program(f"/job/{name}", data) for name, data in sorted(job.items())]
    to.write_bytes(cpio.archive([*cpio.folders_of(files), *files]))


def pack(files: Sequence[File], *, system: bool = False) -> bytes:
    """An archive whose bytes depend on the names, modes and contents alone."""
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
