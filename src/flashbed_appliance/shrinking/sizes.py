# SPDX-License-Identifier: Apache-2.0
"""Attribute the bytes of a kernel to source directories: the linker's map names the object of each byte.

The bytes are those of the unpacked kernel, and the shares add up to it. "Packed alone" is the size that xz makes of one
directory's bytes without the others. These sizes add up to slightly more than the whole image, and rank directories as
the image does.
"""

from __future__ import annotations

import io
import lzma
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

BEGIN = "Linker script and memory map"
PLACED = re.compile(r"\s+0x(?P<address>[0-9a-f]+)\s+0x(?P<size>[0-9a-f]+)\s+(?P<object>\S.*)")
NAMED = re.compile(r"\s(?P<section>\S+)(?P<rest>\s.*)?")
FILLING = "*fill*"
ELSEWHERE = "the linker's own"
"""Bytes of no object: padding within sections, tables made by the linker script."""
BETWEEN = "between sections (padding)"
"""Bytes of no section: zeroes up to the alignment of the next section, and an ELF file's headers."""

_FREE = re.compile(rb"\0+")
_IS_TAKEN = b"\1"

PRESET = lzma.PRESET_EXTREME | 9


@dataclass(frozen=True)
class InputSection:
    """Bytes of one object in the kernel; `address` is their address at run time."""

    section: str
    address: int
    size: int
    object: str


@dataclass(frozen=True)
class Share:
    """One source directory's share of a kernel, in bytes.

    `image` are its bytes in the image, `zeroes` those that only take memory because they start as zeroes (.bss), and
    `packed_alone` the size of its image bytes packed without the others.
    """

    subsystem: str
    image: int
    zeroes: int
    packed_alone: int


def pieces(linker_map: str) -> Iterator[InputSection]:
    """Yield the sections of objects in GNU ld's map. Those of length 0 or without an address are left out."""
    _, _, lines = linker_map.partition(BEGIN)
    section = ""
    for line in lines.splitlines():
        rest = line
        if line.startswith(f" {FILLING}") or (line[:1] == " " and line[1:2] not in (" ", "")):
            match = NAMED.match(line)
            if match is None:
                continue
            section, rest = match["section"], match["rest"] or ""
            if not rest:
                continue  # a long name: the numbers are on the next line
        elif not line.startswith("  "):
            section = ""
            continue
        placed = PLACED.fullmatch(rest)
        if placed and section and section != FILLING and (size := int(placed["size"], 16)):
            if (address := int(placed["address"], 16)) and _is_object(placed["object"]):
                yield InputSection(section, address, size, placed["object"])
            section = ""


def _is_object(name: str) -> bool:
    return name.endswith((".o", ".o)"))


def subsystem(path: str) -> str:
    """Return the source directory of an object, at most two levels: "net/sunrpc". `path` may be an archive's member."""
    inner = path.partition("(")
    whole = f"{Path(inner[0]).parent}/{inner[2].rstrip(')')}" if inner[1] and "/" not in inner[2] else path
    whole = inner[2].rstrip(")") if inner[1] and "/" in inner[2] else whole
    folders = Path(whole).parent.parts
    return "/".join(folders[:2]) if folders else ELSEWHERE


def shares(linker_map: str, vmlinux: Path, raw: Path) -> list[Share]:
    """Return the share of each source directory, the largest first. They add up to `raw`, the file that is made of
    vmlinux and packed. Bytes of sections that no piece covers are the linker's own.
    """
    loaded = _Loaded(vmlinux)
    content: dict[str, list[bytes]] = defaultdict(list)
    zeroes: dict[str, int] = defaultdict(int)
    for piece in pieces(linker_map):
        name = subsystem(piece.object)
        taken = loaded.take(piece.address, piece.size)
        if taken is None:
            zeroes[name] += piece.size
        elif taken:
            content[name].append(taken)
    content[ELSEWHERE].append(b"".join(loaded.left()))
    content[BETWEEN].append(_between(vmlinux, raw))
    made = (
        Share(name, len(joined), zeroes[name], len(lzma.compress(joined, preset=PRESET)) if joined else 0)
        for name in sorted({*content, *zeroes})
        for joined in [b"".join(content[name])]
    )
    return sorted(made, key=lambda share: (-share.image, share.subsystem))


def _between(vmlinux: Path, raw: Path) -> bytes:
    """Return the bytes of `raw` that belong to no section. `raw` is a stripped ELF file (x86_64) or a memory image
    (arm64).
    """
    image = raw.read_bytes()
    if image.startswith(b"\x7fELF"):
        spans = [
            (section["sh_offset"], section["sh_size"])
            for section in _sections(raw)
            if section["sh_type"] != "SHT_NOBITS"
        ]
    else:
        with_content = [section for section in _sections(vmlinux) if section["sh_type"] != "SHT_NOBITS"]
        first = min(section["sh_addr"] for section in with_content)
        spans = [(section["sh_addr"] - first, section["sh_size"]) for section in with_content]
    ends = [0, *(begin + size for begin, size in sorted(spans))]
    begins = [*(begin for begin, _ in sorted(spans)), len(image)]
    return b"".join(image[end:begin] for end, begin in zip(ends, begins, strict=True))


def _sections(file: Path) -> list[Section]:
    """Return the sections of an ELF file that are loaded."""
    elf = ELFFile(io.BytesIO(file.read_bytes()))
    return [
        section for section in elf.iter_sections() if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_size"]
    ]


class _Loaded:
    """The loaded sections of a vmlinux, and which of their bytes were taken."""

    def __init__(self, vmlinux: Path) -> None:
        loaded = [
            (section["sh_addr"], section["sh_size"], None if section["sh_type"] == "SHT_NOBITS" else section.data())
            for section in _sections(vmlinux)
        ]
        self._sections: list[tuple[int, int, bytes | None]] = sorted(loaded, key=lambda part: part[0])
        self._starts = [start for start, _, _ in self._sections]
        self._taken = [bytearray(0 if data is None else len(data)) for _, _, data in self._sections]

    def take(self, address: int, size: int) -> bytes | None:
        """Take the bytes there that were not taken before. Return None if the image has none because they start as
        zeroes, and b"" if no section is there.

        The map gives string sections their size before equal strings were merged, so they overlap the pieces behind
        them: a byte belongs to the first piece that takes it.
        """
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return b""
        start, length, data = self._sections[index]
        begin = address - start
        if begin >= length:
            return b""
        if data is None:
            return None
        end, taken = min(begin + size, length), self._taken[index]
        free = b"".join(data[hole.start() : hole.end()] for hole in _FREE.finditer(taken, begin, end))
        taken[begin:end] = _IS_TAKEN * (end - begin)
        return free

    def left(self) -> Iterable[bytes]:
        """Yield the bytes of sections with content that were not taken."""
        for taken, (_, _, data) in zip(self._taken, self._sections, strict=True):
            if data is not None:
                yield from (data[hole.start() : hole.end()] for hole in _FREE.finditer(taken))
