# SPDX-License-Identifier: Apache-2.0
"""Initial RAM file systems: cpio archives that repeat to the byte, made without root by the kernel's own gen_init_cpio.

The kernel unpacks archives laid one behind the other, so a cell gets a common base, its tools and its job, and its
RAM is not filled
with the tools of other file systems.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import no_room
from flashbed.image.cache import Cache, Entry
from flashbed.image.kernel import GEN_INIT_CPIO, Kernel

ARCHIVE = "archive.cpio"
TRAILER = b"TRAILER!!!"

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


def archive(cache: Cache, kernel: Kernel, name: str, files: Sequence[File], *, system: bool = False) -> Entry:
    """A cached cpio archive of `files`; with `system`, also the folders, device node and applets that a guest starts
    with.
    """
    contents = [(file.name, digest_file(file.source), file.mode) for file in files]
    recipe = {"files": contents, "system": system and APPLETS, "tool": kernel.entry.digests[GEN_INIT_CPIO]}

    def fill(folder: Path) -> None:
        pack(kernel, files, folder / ARCHIVE, system=system)

    return cache.entry(f"cpio-{name}", recipe, fill)


def job_archive(kernel: Kernel, job: Mapping[str, bytes], to: Path) -> None:
    """Writes the archive with a cell's own files, which land in the guest's /job."""
    with tempfile.TemporaryDirectory(dir=to.parent) as folder:
        files = []
        for name, data in sorted(job.items()):
            source = Path(folder) / name
            source.write_bytes(data)
            files.append(File(f"/job/{name}", source))
        pack(kernel, files, to)


def pack(kernel: Kernel, files: Sequence[File], to: Path, *, system: bool = False) -> None:
    """Writes an archive whose bytes depend on the names, modes and contents alone: gen_init_cpio takes a file's time
    from the disk. Raises HostResourceError if the disk of `to` is full.
    """
    with tempfile.TemporaryDirectory(dir=to.parent) as scratch:
        lines = _folders(files, ("/bin", "/dev", "/proc", "/sys", "/tmp") if system else ())
        if system:
            lines += ["nod /dev/console 0600 0 0 c 5 1"]
            lines += [f"slink /bin/{applet} busybox 0777 0 0" for applet in APPLETS]
        for number, file in enumerate(sorted(files, key=lambda file: file.name)):
            copy = Path(scratch) / str(number)
            shutil.copyfile(file.source, copy)
            os.utime(copy, (0, 0))
            lines.append(f"file {file.name} {copy} {file.mode:04o} 0 0")
        listing = Path(scratch) / "list"
        listing.write_text("\n".join(lines) + "\n")
        with to.open("wb") as out:
            subprocess.run([kernel.entry.path(GEN_INIT_CPIO), "-t", "0", listing], stdout=out)
    # It does not look whether its writes went well; a whole archive ends with its trailer, and zeros up to a block
    if not to.read_bytes().rstrip(b"\0").endswith(TRAILER):
        raise no_room(to)


def _folders(files: Sequence[File], more: Iterable[str]) -> list[str]:
    wanted = set(more)
    for file in files:
        wanted |= {str(parent) for parent in Path(file.name).parents if str(parent) != "/"}
    return [f"dir {folder} 0755 0 0" for folder in sorted(wanted)]
