# SPDX-License-Identifier: Apache-2.0
"""Reads what guest/outbox.c wrote: the host's side of that format, and nothing else."""

from __future__ import annotations

import io
import struct
import tarfile
from pathlib import Path

MAGIC = b"FBOUTBX1"
HEADER = struct.Struct("<8sQ")
BYTES = 16 << 20
"""Size of the region, a power of two as every PCI window."""


def read(path: Path) -> dict[str, bytes] | None:
    """The files that the guest sent, by name; None if it did not get as far as sending them."""
    with path.open("rb") as box:
        magic, length = HEADER.unpack(box.read(HEADER.size))
        if magic != MAGIC or length > BYTES - HEADER.size:
            return None
        data = box.read(length)
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members = [member for member in archive if member.isfile()]
            contents = {member.name.removeprefix("./"): archive.extractfile(member) for member in members}
            return {name: file.read() for name, file in sorted(contents.items()) if file is not None}
    except tarfile.TarError:
        return None
