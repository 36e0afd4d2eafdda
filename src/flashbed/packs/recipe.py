# SPDX-License-Identifier: Apache-2.0
"""A recipe is a repetition as plain data: the machine's arguments and the files that it starts from, by their digests.

Nothing in it means anything to a study or a profile. Must not know how files lie in a pack.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

EMULATOR = "qemu-system-aarch64"
"""The program that every recipe needs, as a pack calls it."""

BY_KEY = ("key", "label")
"""What of a recipe says whose it is, and changes nothing in the guest."""


@dataclass(frozen=True)
class Check:
    """The checker that looks at the medium's content behind the guest: a program of the pack, and its arguments."""

    program: str
    arguments: tuple[str, ...]
    """DATA stands for the path of the content."""

    DATA = "{data}"


@dataclass(frozen=True)
class Recipe:
    """What a repetition runs with. Files are named by their SHA-256."""

    key: str
    label: str
    machine: tuple[str, ...]
    """The emulator's arguments that shape results."""
    kernel: str
    symbols: str | None
    """The kernel's System.map, where samples of the CPUs were taken."""
    archives: tuple[tuple[str, str], ...]
    """The guest's first file system, by part: "base", its programs, its modules, "job"."""
    state: str
    content: str | int
    """What is stored on the medium: a file, or so many bytes of nothing."""
    ram_bytes: int
    content_bytes: int
    check: Check | None
    load: str | None = None
    """The archive with what only the load needs; None in a pack of before, whose "job" has all."""

    @property
    def files(self) -> Iterator[str]:
        """The digests of all files."""
        yield self.kernel
        yield self.state
        yield from (digest for _, digest in self.archives)
        yield from (file for file in (self.symbols, self.content, self.load) if isinstance(file, str))

    @property
    def cell(self) -> str:
        """The same text for repetitions of one cell: what their labels say before the seed. A key of its own would be
        another format of packs, and those of this one would be read as now.
        """
        return self.label.rpartition(", seed ")[0]

    @property
    def guest(self) -> str:
        """The same text for recipes whose guests are the same: one run serves them all."""
        return json.dumps({name: value for name, value in asdict(self).items() if name not in BY_KEY}, sort_keys=True)

    def as_json(self) -> dict[str, Any]:
        """As from_json reads it."""
        return asdict(self)


def from_json(told: Mapping[str, Any]) -> Recipe:
    """Raises KeyError, TypeError for what is no recipe."""
    check = told["check"]
    return Recipe(
        **{
            **told,
            "machine": tuple(map(str, told["machine"])),
            "archives": tuple((str(name), str(digest)) for name, digest in told["archives"]),
            "check": check and Check(str(check["program"]), tuple(map(str, check["arguments"]))),
        }
    )
