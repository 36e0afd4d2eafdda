# SPDX-License-Identifier: Apache-2.0
"""The one reader of what a guest hands out (guest/outbox.c): a box of 16 MiB with a tar archive in it.

The guest is not trusted: the job of a stranger is root there, and may write into the box whatever it likes. So the
reader takes plain files with plain names and refuses all else, and never unpacks anything to the disk. It reads each
header by itself, for what else a header of tarfile's formats may say (sparse maps, extended headers, links) reaches
beyond its member: a map of 512 bytes makes a file of 3 GiB.
"""

from __future__ import annotations

import shutil
import struct
import tarfile
from collections.abc import Iterator
from pathlib import Path

from flashbed.common import foreign_names, foreign_text
from flashbed.common.units import describe_size
from flashbed.guest_output.profile import PROFILE, RAW

MAGIC = b"FBOUTBX1"
HEADER = struct.Struct("<8sQ")
BYTES = 16 << 20
"""Size of the region, a power of two as every PCI window. All files together are smaller than that."""

MOST_FILES = 4096

MOST_NOTED = 256 << 20
"""Bytes of all that the emulator notes of a guest's medium."""

_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_KINDS = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a FIFO",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
    tarfile.GNUTYPE_LONGNAME: "a name of more than 100 bytes",
    tarfile.GNUTYPE_LONGLINK: "a link to a name of more than 100 bytes",
    tarfile.XHDTYPE: "an extended header",
    tarfile.XGLTYPE: "an extended header",
    tarfile.SOLARIS_XHDTYPE: "an extended header",
}
_OF_THE_HOST = (RAW, PROFILE)
"""What the lab puts beside the guest's files itself."""


class RefusedError(Exception):
    """What a guest handed out breaks a rule of the reader; the text says what it sent."""


def read(path: Path) -> dict[str, bytes] | None:
    """The files that the guest sent, by name in sorted order; None if it did not get as far as sending them. Raises
    RefusedError.
    """
    with path.open("rb") as box:
        magic, length = HEADER.unpack(box.read(HEADER.size))
        if magic != MAGIC:
            return None
        if length > BYTES - HEADER.size:
            raise RefusedError("an archive longer than its box")
        data = box.read(length)
    found: dict[str, bytes] = {}
    for name, content in _files(data):
        if why := foreign_names.fault(name):
            raise RefusedError(f'a file whose name {why}: "{foreign_text.line(name)}"')
        if (first := name.partition("/")[0]) in _OF_THE_HOST:  # a folder of that name would be in the file's way
            raise RefusedError(f"{first}, which the host writes")
        if name in found:
            raise RefusedError(f'two files named "{name}"')
        if len(found) == MOST_FILES:
            raise RefusedError(f"more than {MOST_FILES} files")
        found[name] = content
    if name := foreign_names.conflict(found):
        raise RefusedError(f'"{name}" as a file and as a folder')
    return dict(sorted(found.items()))


def noted(folder: Path) -> dict[str, bytes]:
    """What the emulator has noted of the guest's medium, by name; the folder is gone then. The guest chose how often,
    and some of the names (emulator/lab-medium-notes.h). Raises RefusedError.
    """
    files = sorted(folder.iterdir())
    if sum(path.stat().st_size for path in files) > MOST_NOTED:
        raise RefusedError(f"more than {describe_size(MOST_NOTED)} of its medium")
    found = {path.name: path.read_bytes() for path in files}
    shutil.rmtree(folder)
    return found


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each plain file; folders are passed over. Raises RefusedError."""
    at = 0
    while any(block := data[at : at + tarfile.BLOCKSIZE]):
        member = _header(block)
        begin = at + tarfile.BLOCKSIZE
        if member.isdir() and not member.size:
            at = begin
            continue
        name = member.name.removeprefix("./")
        if member.type not in _PLAIN:
            kind = _KINDS.get(member.type, "a folder with content" if member.isdir() else "a file of an unknown kind")
            raise RefusedError(f'{kind}: "{foreign_text.line(name)}"')
        if not 0 <= member.size <= len(data) - begin:
            raise RefusedError(f'a file that is longer than the archive: "{foreign_text.line(name)}"')
        yield name, data[begin : begin + member.size]
        at = begin + -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
    if len(block) < tarfile.BLOCKSIZE:
        raise RefusedError("an archive without an end")


def _header(block: bytes) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "strict")
    except UnicodeDecodeError:
        raise RefusedError("a file whose name is not UTF-8") from None
    except tarfile.HeaderError:
        raise RefusedError("something else than a tar archive") from None
