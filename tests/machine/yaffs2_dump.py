# SPDX-License-Identifier: Apache-2.0
"""Reads YAFFS2 from the dump of a chip with pages of 2 KiB by the rules of the format, and gives what lives there the
order in which image makers write it, so that `unyaffs` can unpack it. Knows nothing of our implementation. For tests.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

PAGE, SPARE, PAGES_PER_BLOCK = 2048, 64, 64
TAGS_AT = 2
"""Where the framework leaves the first spare byte free: before it is the mark of bad blocks."""

UNUSED, LOWEST_SEQUENCE = 0xFFFFFFFF, 0x1000
ROOT, LOST_AND_FOUND, UNLINKED, DELETED, SUMMARY = 1, 2, 3, 4, 0x10
FILE, HARD_LINK = 1, 4
EXTRA = 0x80000000


class Header(NamedTuple):
    page: bytes
    type: int
    parent: int
    size: int
    shadows: int
    shrink: bool


class Live:
    """Headers by object, and chunks by object and number, of all that counts."""

    def __init__(self) -> None:
        self.headers: dict[int, Header] = {}
        self.chunks: dict[tuple[int, int], bytes] = {}


def _tags(page: bytes) -> tuple[int, int, int, int]:
    sequence, object_id, chunk, count = struct.unpack_from("<4I", page, PAGE + TAGS_AT)
    return (sequence, object_id & 0x0FFFFFFF if chunk & EXTRA else object_id, 0 if chunk & EXTRA else chunk, count)


def _header(page: bytes) -> Header:
    kind, parent = struct.unpack_from("<2I", page, 0)
    low, high = struct.unpack_from("<I", page, 292)[0], struct.unpack_from("<I", page, 496)[0]
    shadows, shrink = struct.unpack_from("<2I", page, 504)
    size = low | (0 if high == UNUSED else high << 32) if kind == FILE else 0
    return Header(page, kind, parent, size, shadows if shadows < UNUSED else 0, shrink == 1)


def read(dump: Path) -> Live:
    """Read the live objects of a dump. Scan blocks from the newest to the oldest, each from its last page: the first
    page found for a place is valid.
    """
    pages, block_bytes = dump.read_bytes(), (PAGE + SPARE) * PAGES_PER_BLOCK
    blocks = []
    for start in range(0, len(pages), block_bytes):
        block = [pages[at : at + PAGE + SPARE] for at in range(start, start + block_bytes, PAGE + SPARE)]
        sequence = _tags(block[0])[0]
        if LOWEST_SEQUENCE <= sequence < UNUSED:
            blocks.append((sequence, block))
    live, dead, limits = Live(), set[int](), dict[int, int]()
    for sequence, block in sorted(blocks, reverse=True, key=lambda pair: pair[0]):
        for page in reversed(block):
            state, object_id, chunk, _ = _tags(page)
            if state != sequence or object_id == SUMMARY:
                continue
            if chunk:
                within = (chunk - 1) * PAGE < limits.get(object_id, 1 << 62)
                if object_id not in dead and within:
                    live.chunks.setdefault((object_id, chunk), page)
                continue
            header = _header(page)
            gone = header.parent in (UNLINKED, DELETED)
            if object_id not in dead and not gone and object_id not in live.headers:
                live.headers[object_id] = header
                limits[object_id] = header.size
            elif header.shrink and not gone:
                limits[object_id] = min(limits.get(object_id, 1 << 62), header.size)
            if gone:
                dead.add(object_id)
            if header.shadows:
                dead.add(header.shadows)
    return live


def _plain_header(object_id: int, page: bytes) -> bytes:
    """Return the page of a header with plain tags. Our tags repeat fields of the header; image makers never write
    these, and unyaffs does not know them.
    """
    tags = struct.pack("<4I", struct.unpack_from("<I", page, PAGE + TAGS_AT)[0], object_id, 0, 0xFFFF)
    return page[: PAGE + TAGS_AT] + tags + page[PAGE + TAGS_AT + 16 :]


def _hole(object_id: int, chunk: int, count: int) -> bytes:
    spare = b"\xff" * TAGS_AT + struct.pack("<4I", LOWEST_SEQUENCE, object_id, chunk, count)
    return bytes(PAGE) + spare.ljust(SPARE, b"\xff")


def write_image(live: Live, image: Path) -> None:
    """Write folders before their content, a file's data after its header, and hard links last."""
    order, known = list[int](), {ROOT, LOST_AND_FOUND}
    waiting = [number for number in sorted(live.headers) if number not in known]
    while ready := [n for n in waiting if live.headers[n].parent in known and live.headers[n].type != HARD_LINK]:
        order += ready
        known |= set(ready)
        waiting = [number for number in waiting if number not in known]
    assert all(live.headers[number].type == HARD_LINK for number in waiting)
    with image.open("wb") as out:
        for number in order + waiting:
            header = live.headers[number]
            out.write(_plain_header(number, header.page))
            for chunk in range(1, -(-header.size // PAGE) + 1):
                count = min(PAGE, header.size - (chunk - 1) * PAGE)
                out.write(live.chunks.get((number, chunk)) or _hole(number, chunk, count))
