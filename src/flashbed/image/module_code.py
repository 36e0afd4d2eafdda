# SPDX-License-Identifier: Apache-2.0
"""The code of a module, and where a guest has it: a module lies where there is room when it is loaded, and nothing says
where that was but the code itself.

Its executable sections are told by addresses of their own (`base`), below any of the kernel's. Must not know what is
looked for in them.
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

RECIPE_VERSION = 1
"""Raise it if `sections_of` returns something else for the same module."""

WORD = 4
"""Bytes of an instruction."""

_RUN = 4
"""So many instructions in a row are one sample."""

_ENOUGH = 8
"""Samples that must agree on a place."""

_FIRST_BASE, _BETWEEN = 1 << 40, 1 << 32

Piece = tuple[int, bytes]
"""Code that ran: where, and its bytes."""


@dataclass(frozen=True)
class ModuleSection:
    """An executable section of a module."""

    name: str
    base: int
    code: bytes
    changed: frozenset[int]
    """Offsets of instructions that the kernel changes when it loads the module."""

    def as_json(self) -> list[Any]:
        return [self.name, self.base, self.code.hex(), sorted(self.changed)]

    @classmethod
    def from_json(cls, told: Sequence[Any]) -> ModuleSection:
        """What `as_json` gave."""
        name, base, code, changed = told
        return cls(name, base, bytes.fromhex(code), frozenset(changed))

    @cached_property
    def _samples(self) -> dict[bytes, int]:
        """Runs of instructions that stand in one place only, with their offsets."""
        found: dict[bytes, int] = {}
        for offset in range(0, len(self.code) - _RUN * WORD + 1, WORD):
            if not self.changed & set(range(offset, offset + _RUN * WORD, WORD)):
                sample = self.code[offset : offset + _RUN * WORD]
                found[sample] = -1 if sample in found else offset
        return {sample: offset for sample, offset in found.items() if offset >= 0}

    def ran(self, pieces: Iterable[Piece]) -> Iterator[tuple[int, int]]:
        """Begin and end of what ran of it, by its own addresses. Nothing if no place is told by the pieces."""
        pieces = list(pieces)
        votes: Counter[int] = Counter()
        for address, code in pieces:
            for at in range(0, len(code) - _RUN * WORD + 1, WORD):
                offset = self._samples.get(code[at : at + _RUN * WORD])
                if offset is not None:
                    votes[address + at - offset] += 1
        if not votes or votes.most_common(1)[0][1] < _ENOUGH:
            return
        place = votes.most_common(1)[0][0]
        for address, code in pieces:
            begin, end = address - place, address - place + len(code)
            if begin >= 0 and end <= len(self.code):
                yield self.base + begin, self.base + end


def sections_of(module: Path, number: int) -> list[ModuleSection]:
    """The executable sections of a module's file; `number` tells modules apart."""
    with module.open("rb") as file:
        elf = ELFFile(file)
        found = list(elf.iter_sections())
        relocated: dict[int, set[int]] = {}
        for section in found:
            if isinstance(section, RelocationSection):
                offsets = {relocation["r_offset"] // WORD * WORD for relocation in section.iter_relocations()}
                relocated.setdefault(section["sh_info"], set()).update(offsets)
        return [
            ModuleSection(
                section.name,
                _FIRST_BASE + (number * len(found) + index) * _BETWEEN,
                section.data(),
                frozenset(relocated.get(index, ())),
            )
            for index, section in enumerate(found)
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_type"] == "SHT_PROGBITS"
        ]
