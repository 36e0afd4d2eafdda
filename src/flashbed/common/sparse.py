# SPDX-License-Identifier: Apache-2.0
"""Copy and write sparse files. Holes are neither read nor written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

PIECE_BYTES = 1 << 16


def copy(source: Path, to: Path) -> None:
    """Copy `source` to `to`, holes as holes. Raises OSError."""
    with source.open("rb") as file:
        write(to, os.fstat(file.fileno()).st_size, pieces(file))


def write(to: Path, size: int, content: Iterable[tuple[int, bytes]]) -> None:
    """Write a file of `size` bytes that is zero except for the pieces `content` at their offsets. Raises OSError."""
    with to.open("wb") as out:
        out.truncate(size)
        for offset, piece in content:
            out.seek(offset)
            out.write(piece)


def pieces(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces of a file that are not all zero, each with its offset. Raises OSError."""
    zeros = bytes(PIECE_BYTES)
    end = 0
    while True:
        try:
            begin = os.lseek(file.fileno(), end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left
                return
            raise
        end = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
        at = begin - begin % PIECE_BYTES
        while at < end:
            piece = os.pread(file.fileno(), PIECE_BYTES, at)
            if piece != zeros[: len(piece)]:
                yield at, piece
            at += PIECE_BYTES
        end = max(end, at)
