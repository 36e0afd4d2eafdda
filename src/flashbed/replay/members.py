# SPDX-License-Identifier: Apache-2.0
"""Members of a pack's ZIP archive, read within limits: a pack may come from a stranger, and a few bytes of it may say
that they are gigabytes.

Must not know what a member is of.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

READ_BYTES = 4 << 10
"""Of a member at a time: zipfile unpacks all that so many packed bytes hold at once, and of zeros that is 7,000 times
as much.
"""

MOST_READ_BYTES = 64 << 20
"""Of a member that is read into memory: a console at most, or pack.json of some 7,000 repetitions. All files of a
repetition together may have twice that.
"""

MOST_VALUES = 4 << 20
"""Of a JSON document. Each takes up to 100 bytes in memory, and three in a document that is meant to fill it."""

MOST_DICTIONARY_BYTES = 64 << 20
"""What unpacking a member may keep in memory by the packing's own parameters; 8 MiB is what packs are made with."""

_LOCAL = struct.Struct("<26x2H")
"""How long name and extra field are, at the end of what stands before a member (APPNOTE.TXT 4.3.7)."""
_LZMA = struct.Struct("<2xHBI")
"""What packed data begin with: the size of the parameters, these, with the size of the dictionary (APPNOTE.TXT 5.8)."""

Damaged = (
    *(ValueError, KeyError, TypeError, RuntimeError, EOFError, MemoryError, OverflowError),
    *(struct.error, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
"""What Python raises for archives that are none, by the place of the damage; MemoryError and RuntimeError for a
packing's parameters that no packer writes.
"""
Unreadable = (OSError, *Damaged)


def read(archive: zipfile.ZipFile, member: str) -> bytes:
    """Raises one of Unreadable."""
    size = archive.getinfo(member).file_size
    if size > MOST_READ_BYTES:
        raise ValueError(f"it says that it has {size} bytes")
    return b"".join(pieces(archive, member))


def parsed(data: bytes) -> Any:
    """A JSON document. Raises ValueError, also for one of more values than any pack has, RecursionError."""
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES} values")
    return json.loads(data)


def opened(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    """Raises one of Damaged, also for a packing that takes much memory, KeyError, OSError."""
    found = archive.getinfo(member)
    if found.compress_type == zipfile.ZIP_LZMA:
        assert archive.fp is not None
        archive.fp.seek(found.header_offset)
        archive.fp.seek(sum(_LOCAL.unpack(archive.fp.read(_LOCAL.size))), 1)
        *_, dictionary = _LZMA.unpack(archive.fp.read(_LZMA.size))
        if dictionary > MOST_DICTIONARY_BYTES:
            raise ValueError(f"unpacking it takes {dictionary} bytes of memory")
    return archive.open(found)


def pieces(archive: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    with opened(archive, member) as source:
        while piece := source.read(READ_BYTES):
            yield piece


def copy(source: IO[bytes], out: BinaryIO) -> str:
    """Copies a file into an empty one, without what is all zero in it. Gives its SHA-256."""
    found = hashlib.sha256()
    while piece := source.read(READ_BYTES):
        found.update(piece)
        if piece.count(0) == len(piece):
            out.seek(len(piece), 1)
        else:
            out.write(piece)
    out.truncate(out.tell())
    return found.hexdigest()
