# SPDX-License-Identifier: Apache-2.0
"""A disk whose cache is lost when the power fails: QEMU logs the guest's writes, and a cut keeps a random part of what
was not flushed.

The log is of QEMU's driver blklogwrites, in the format of dm-log-writes (Linux,
Documentation/admin-guide/device-mapper/log-writes.rst): a superblock in the first sector (magic, version, entries,
sector size), then for each write, discard and flush an entry of one sector (sector, sectors, flags, length of a mark's
data; 64 bits each, little-endian), and the written data.
"""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC = 0x6A736677736872
SECTOR = 512
FLUSH, FUA, DISCARD = 1, 2, 4
SUPERBLOCK = struct.Struct("<3QI")
ENTRY = struct.Struct("<4Q")


@dataclass(frozen=True)
class Entry:
    """A request of the guest to the disk. Only writes have `data`."""

    offset: int
    length: int
    flags: int
    data: bytes


class Disk:
    """An appliance's disk over cuts of its power: call `logged` before each start, then `cut`. `lost` is the number of
    lost writes in all.
    """

    def __init__(self, image: Path, folder: Path, dice: random.Random) -> None:
        self._image, self._folder, self._dice = image, folder, dice
        self._before, self._log = folder / "before.img", folder / "log"
        self.lost = 0

    def logged(self, command: Sequence[str]) -> list[str]:
        """Return the command of a machine that will be killed."""
        shutil.copy(self._image, self._before)
        return logged(command, self._image, self._log)

    def cut(self) -> None:
        """Make the image what the killed machine's disk has kept, and check that its file system is intact."""
        disk, gone = cut(self._before, self._log, self._dice)
        self.lost += gone
        self._image.write_bytes(disk)
        is_whole(self._image, self._folder)


def logged(command: Sequence[str], image: Path, log: Path) -> list[str]:
    """Return an appliance's command whose first disk, `image`, logs to the new file `log`."""
    log.write_bytes(b"")
    at = next(number for number, word in enumerate(command) if word.startswith("if=none,id=disk0,"))
    nodes = (
        f"driver=file,node-name=image0,filename={image}",
        "driver=raw,node-name=raw0,file=image0",
        f"driver=file,node-name=log0,filename={log}",
        "driver=blklogwrites,node-name=disk0,file=raw0,log=log0,log-super-update-interval=1",
    )
    words = [word for node in nodes for word in ("-blockdev", node)]
    return [*command[: at - 1], *words, *command[at + 1 :]]


def entries(log: Path) -> Iterator[Entry]:
    """Yield the entries, as far as the log was written. A request that was in flight when QEMU was killed was not
    done.
    """
    data = log.read_bytes()
    if len(data) < SECTOR:
        return
    magic, _, many, size = SUPERBLOCK.unpack_from(data)
    assert (magic, size) == (MAGIC, SECTOR)
    at = SECTOR
    for _ in range(many):
        sector, sectors, flags, _ = ENTRY.unpack_from(data, at)
        at += SECTOR
        length = 0 if flags & DISCARD else sectors * SECTOR
        if at + length > len(data):
            return
        yield Entry(sector * SECTOR, sectors * SECTOR, flags, data[at : at + length])
        at += length


def cut(before: Path, log: Path, dice: random.Random) -> tuple[bytes, int]:
    """Write what is on the disk after the power failed, and return the number of lost writes. All writes before a flush
    are there; of the others a random part, in pages.
    """
    disk = bytearray(before.read_bytes())
    logged_entries = list(entries(log))
    last = max((number for number, entry in enumerate(logged_entries) if entry.flags & FLUSH), default=-1)
    lost = 0
    for number, entry in enumerate(logged_entries):
        if number > last and not entry.flags & FUA and dice.random() < 0.5:
            lost += bool(entry.length)
            continue
        disk[entry.offset : entry.offset + entry.length] = bytes(entry.length) if entry.flags & DISCARD else entry.data
    return bytes(disk), lost


def is_whole(image: Path, folder: Path) -> None:
    """Return True if its ext4 has a journal to replay, and no other damage. The image does not change."""
    copy = folder / "checked.img"
    shutil.copy(image, copy)
    replayed = subprocess.run(["/sbin/e2fsck", "-p", copy], capture_output=True, text=True)
    assert replayed.returncode in (0, 1), replayed.stdout
    looked = subprocess.run(["/sbin/e2fsck", "-fn", copy], capture_output=True, text=True)
    assert looked.returncode == 0, looked.stdout
