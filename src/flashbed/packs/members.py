# SPDX-License-Identifier: Apache-2.0
"""Write a file into the ZIP archive of a pack. What the lab has built is packed once: LZMA takes seconds for the
emulator and the kernel, which every pack has. Its packed bytes are kept in the cache.

The bytes are the same either way. Must not know what a file is for.
"""

from __future__ import annotations

import shutil
import struct
import sys
import zipfile
from pathlib import Path
from typing import BinaryIO

from flashbed.common import paths
from flashbed.image.cache import Cache
from flashbed.replay import pack_file

STARTED = ("__main__.py", "flashbed/")
"""Members that Python itself unpacks when it starts an archive. It supports deflate only."""

LEAST_BYTES = 64 << 10
"""Smallest member that is packed by `packing`: starting that packing takes tens of MB of memory."""

_ARCHIVE = "packed.zip"
"""In an entry of the cache: an archive with one member."""

_HEADER = struct.Struct("<4s5H3I2H")
"""The head of a member in an archive; its last two fields are the lengths of what follows: name and extra fields."""


def member(name: str, size_bytes: int, packing: int) -> zipfile.ZipInfo:
    """Return the head of a member. `packing` is a compression method of zipfile, for large members."""
    info = zipfile.ZipInfo(name, _DAY)
    is_small = size_bytes < LEAST_BYTES or name.startswith(STARTED)
    info.compress_type = zipfile.ZIP_DEFLATED if is_small else packing
    info.external_attr = 0o644 << 16
    return info


_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of every member, ZIP's first day: a pack contains no time of this host."""


def put_built(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, digest: str) -> bool:
    """Write a member with the content of a file of the cache of builds, whose SHA-256 is `digest`, as it was packed
    before. Return False, and write nothing, for another file and for a small member.

    The archive has a member already. Raises OSError, HostResourceError.
    """
    if info.compress_type != zipfile.ZIP_LZMA or not path.is_relative_to(paths.cache_root() / "image"):
        return False
    packed = _packed(path, digest).open("rb")
    with packed, zipfile.ZipFile(packed) as kept:
        (packed_info,) = kept.infolist()
        packed.seek(packed_info.header_offset)
        *_, name_bytes, extra_bytes = _HEADER.unpack(packed.read(_HEADER.size))
        packed.seek(name_bytes + extra_bytes, 1)
        for field in ("CRC", "compress_size", "file_size", "create_version", "extract_version", "flag_bits"):
            setattr(info, field, getattr(packed_info, field))
        _add(archive, info, packed)
    return True


def _add(archive: zipfile.ZipFile, info: zipfile.ZipInfo, packed: BinaryIO) -> None:
    """Write a member whose packed bytes are next in `packed`. The module zipfile has no function for this."""
    out = archive.fp
    assert out is not None
    out.seek(archive.start_dir)
    info.header_offset = out.tell()
    out.write(info.FileHeader(zip64=True))
    left = info.compress_size
    while piece := packed.read(min(left, pack_file.PIECE_BYTES)):
        out.write(piece)
        left -= len(piece)
    archive.filelist.append(info)
    archive.NameToInfo[info.filename] = info
    archive.start_dir = out.tell()


def _packed(path: Path, digest: str) -> Path:
    """Return the archive of the cache whose only member is this file."""

    def fill(folder: Path) -> None:
        info = member("file", path.stat().st_size, zipfile.ZIP_LZMA)
        with (
            zipfile.ZipFile(folder / _ARCHIVE, "w", allowZip64=True) as archive,
            archive.open(info, "w", force_zip64=True) as out,
            path.open("rb") as file,
        ):
            shutil.copyfileobj(file, out, pack_file.PIECE_BYTES)

    recipe = {"file": digest, "packing": "lzma", "python": list(sys.version_info[:2])}
    return Cache(paths.cache_root() / "image").entry("packed", recipe, fill).path(_ARCHIVE)
