# SPDX-License-Identifier: Apache-2.0
"""The fragment of a study: the lab's own guest kernel without the file systems, schedulers and drivers that none of its
cells has.

The study runs on the lab's kernel all the same; this says what a product with its stack would have to carry.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.shrinking.building import VERSION
from flashbed.shrinking.fragment import COLUMNS, Fragment, Setting, values
from flashbed.study.loading import Study
from flashbed.study.plan import plan

ARCHITECTURE = "arm64"
"""The lab's guests have no other."""

FILE = Path(__file__).with_name("stacks.toml")

LEFT_OUT = "Not in this study"
SOME, ALL = "Needed by this study", "The lab's guest"


def fragment_of(study: Study, architecture: str) -> Fragment:
    """What a kernel for this study holds. Raises InputError for another architecture or another kernel than ours."""
    if architecture != ARCHITECTURE:
        raise InputError(f"{study.path}: a study's guests are {ARCHITECTURE}; leave out --architecture {architecture}")
    cells = plan(study)
    if others := sorted({cell.kernel for cell in cells} - {VERSION}):
        raise InputError(f'{study.path}: kernel = "{others[0]}": only Linux {VERSION} is shrunk here')
    needed = {
        word for cell in cells for word in (cell.filesystem.mount_type, cell.scheduler.name, cell.medium.provides)
    }
    return Fragment(_settings(paths.guest() / "kernel.config", needed))


@dataclass(frozen=True)
class Part:
    """Options that only some stacks need, as stacks.toml has them."""

    needed_by: frozenset[str]
    reason: str
    options: tuple[str, ...]
    adds: tuple[str, ...] = ()


def parts() -> list[Part]:
    """All of stacks.toml."""
    found = tomllib.loads(FILE.read_text())["part"]
    return [
        Part(frozenset(one["needed_by"]), one["reason"], tuple(one["options"]), tuple(one.get("adds", ())))
        for one in found
    ]


def _settings(file: Path, needed: set[str]) -> Iterator[Setting]:
    """The settings of the guest's kernel; a switch that is not needed is left out, a number of one goes with it."""
    of = {option: part for part in parts() for option in part.options}
    text = file.read_text()
    for option, value in values(text).items():
        line = text[: text.index(f"{option}=" if value != "n" else f"{option} ")].count("\n") + 1
        if option not in of:
            yield Setting(option, value, "What each guest of the lab has.", ALL, file, line)
        elif of[option].needed_by & needed:
            yield Setting(option, value, of[option].reason, SOME, file, line)
        elif value in COLUMNS:
            yield Setting(option, "n", of[option].reason, LEFT_OUT, file, line)
    for part in parts():
        if part.needed_by & needed:
            yield from (Setting(option, "y", part.reason, SOME, FILE, 1) for option in part.adds)
