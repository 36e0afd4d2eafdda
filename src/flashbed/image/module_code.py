# SPDX-License-Identifier: Apache-2.0
"""Find the code of a module in a guest. A kernel loads a module wherever it has room, and only the code that ran shows
where that was.

Each executable section of a module has an address of its own here (`base`), below all addresses of the kernel. Must not
know what is looked for in the sections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

RECIPE_VERSION = 2
"""Raise it if `sections_of` returns something else for the same module."""

WORD = 4
"""The size of an instruction in bytes."""

_RUN = 4
"""The number of consecutive instructions in a sample."""

_ENOUGH = 8
"""The number of samples that must agree on an address."""

_FIRST_BASE, _BETWEEN = 1 << 40, 1 << 32

_MOST_SECTIONS = 1 << 10
"""More than a module has."""

ExecutedCode = tuple[int, bytes]
"""Code that ran: its address and its bytes."""


@dataclass(frozen=True)
class ModuleSection:
    """An executable section of a module."""

    name: str
    base: int
    code: bytes
    changed: frozenset[int]
    """Offsets of instructions that the kernel changes when it loads the module."""

    def as_json(self) -> list[Any]:
        """Return the fields as `from_json` reads them."""
        return [self.name, self.base, self.code.hex(), sorted(self.changed)]

    @classmethod
    def from_json(cls, fields: Sequence[Any]) -> ModuleSection:
        """Return the section from the fields of `as_json`."""
        name, base, code, changed = fields
        return cls(name, base, bytes.fromhex(code), frozenset(changed))

    @cached_property
    def _samples(self) -> dict[bytes, int]:
        """Return the runs of instructions that occur only once, with their offsets."""
        offsets: dict[bytes, int] = {}
        for offset in range(0, len(self.code) - _RUN * WORD + 1, WORD):
            if not self.changed & set(range(offset, offset + _RUN * WORD, WORD)):
                sample = self.code[offset : offset + _RUN * WORD]
                offsets[sample] = -1 if sample in offsets else offset
        return {sample: offset for sample, offset in offsets.items() if offset >= 0}

    def ran(self, pieces: Iterable[ExecutedCode]) -> Iterator[tuple[int, int]]:
        """Yield the begin and end of its code that ran, from `base`. Yield nothing if the pieces fit no address."""
        pieces = list(pieces)
        votes: Counter[int] = Counter()
        for address, code in pieces:
            for at in range(0, len(code) - _RUN * WORD + 1, WORD):
                offset = self._samples.get(code[at : at + _RUN * WORD])
                if offset is not None:
                    votes[address + at - offset] += 1
        if not votes or votes.most_common(1)[0][1] < _ENOUGH:
            return
        loaded_to = votes.most_common(1)[0][0]
        for address, code in pieces:
            begin, end = address - loaded_to, address - loaded_to + len(code)
            if begin >= 0 and end <= len(self.code):
                yield self.base + begin, self.base + end


def sections_of(module: Path, number: int) -> list[ModuleSection]:
    """Return the executable sections of a module's file. Each module needs another `number`, for its addresses."""
    with module.open("rb") as file:
        elf = ELFFile(file)
        all_sections = list(elf.iter_sections())
        relocated: dict[int, set[int]] = {}
        for section in all_sections:
            if isinstance(section, RelocationSection):
                offsets = {relocation["r_offset"] // WORD * WORD for relocation in section.iter_relocations()}
                relocated.setdefault(section["sh_info"], set()).update(offsets)
        return [
            ModuleSection(
                section.name,
                _FIRST_BASE + (number * _MOST_SECTIONS + index) * _BETWEEN,
                section.data(),
                frozenset(relocated.get(index, ())),
            )
            for index, section in enumerate(all_sections)
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_type"] == "SHT_PROGBITS"
        ]
