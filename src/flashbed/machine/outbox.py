# SPDX-License-Identifier: Apache-2.0
"""Read the results of a guest (guest/outbox.c): a region of 16 MiB with a tar archive in it. Nothing else reads it.

The guest is not trusted: a stranger's job is root there, and may write anything into the region. So the reader accepts
plain files with plain names, refuses all else, and never unpacks to the disk. It reads each header by itself, because
other records of tarfile's formats (sparse maps, extended headers, links) reach beyond their member: a map of 512 bytes
makes a file of 3 GiB.
"""

from __future__ import annotations

import shutil
import struct
import tarfile
from collections.abc import Iterator
from pathlib import Path

from flashbed.common import foreign
from flashbed.common.units import describe_size
from flashbed.guest_output.cpu_samples import NAMED_SAMPLES, RAW_SAMPLES
from flashbed.guest_output.system_calls import CALL_NOTES

MAGIC = b"FBOUTBX1"
HEADER = struct.Struct("<8sQ")
BYTES = 16 << 20
"""The size of the region, a power of two as for every PCI window. All files together are smaller."""

MOST_OUTBOX_FILES = 4096

MOST_NOTED = 256 << 20
"""The most bytes that the emulator may note of a guest's medium."""

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
_OF_THE_HOST = (RAW_SAMPLES, NAMED_SAMPLES, CALL_NOTES)
"""Files that the lab itself writes beside the guest's."""


class RefusedError(Exception):
    """The guest's results break a rule of the reader; the text says which."""


def read(path: Path) -> dict[str, bytes] | None:
    """Return the guest's files by name, sorted; None if the guest ended before it sent them. Raises RefusedError."""
    with path.open("rb") as box:
        magic, length = HEADER.unpack(box.read(HEADER.size))
        if magic != MAGIC:
            return None
        if length > BYTES - HEADER.size:
            raise RefusedError("an archive longer than its box")
        data = box.read(length)
    contents: dict[str, bytes] = {}
    for name, content in _files(data):
        if why := foreign.name_fault(name):
            raise RefusedError(f'a file whose name {why}: "{foreign.line(name)}"')
        if (first := name.partition("/")[0]) in _OF_THE_HOST:  # a directory of that name would be in the file's way
            raise RefusedError(f"{first}, which the host writes")
        if name in contents:
            raise RefusedError(f'two files named "{name}"')
        if len(contents) == MOST_OUTBOX_FILES:
            raise RefusedError(f"more than {MOST_OUTBOX_FILES} files")
        contents[name] = content
    if name := foreign.name_conflict(contents):
        raise RefusedError(f'"{name}" as a file and as a folder')
    return dict(sorted(contents.items()))


def noted(folder: Path) -> dict[str, bytes]:
    """Return the emulator's notes of the guest's medium by name, and remove their directory. The guest chose their
    number and some of the names (emulator/lab-medium-notes.h). Raises RefusedError.
    """
    files = sorted(folder.iterdir())
    if sum(path.stat().st_size for path in files) > MOST_NOTED:
        raise RefusedError(f"more than {describe_size(MOST_NOTED)} of its medium")
    notes = {path.name: path.read_bytes() for path in files}
    shutil.rmtree(folder)
    return notes


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each plain file, and skip directories. Raises RefusedError."""
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
            raise RefusedError(f'{kind}: "{foreign.line(name)}"')
        if not 0 <= member.size <= len(data) - begin:
            raise RefusedError(f'a file that is longer than the archive: "{foreign.line(name)}"')
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
