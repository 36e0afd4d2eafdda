# SPDX-License-Identifier: Apache-2.0
"""The fragment of a study: the guest kernel that its cells have, without the file systems, schedulers and drivers that
none of them needs.

The study runs on the lab's kernel all the same; this says what a product with its stack would have to carry.
"""

from __future__ import annotations

import logging
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common.errors import InputError
from flashbed.image import kernel
from flashbed.study.loading import Study
from flashbed.study.plan import Cell, plan
from flashbed_appliance.shrinking.building import VERSION
from flashbed_appliance.shrinking.fragment import COLUMNS, Fragment, Setting, values

_log = logging.getLogger("flashbed")

ARCHITECTURE = "arm64"
"""The lab's guests have no other."""

CONFIGURATIONS = {f"{VERSION}{kind}": kind for kind in ("", kernel.DEBUG, kernel.NAS)}
"""Kernels that are built from the source that is shrunk here, and of which kind the configuration of each is."""

_ONLY = f"only a kernel that the lab builds from Linux {VERSION} ({', '.join(CONFIGURATIONS)}) is shrunk here"

FILE = Path(__file__).with_name("stacks.toml")

LEFT_OUT = "Not in this study"
SOME, ALL = "Needed by this study", "The lab's guest"


def fragment_of(study: Study, architecture: str) -> Fragment:
    """What a kernel for this study holds. Cells with another kernel than ours are left out, which is said. Raises
    InputError for another architecture, and if no cell is left, or cells of two configurations are.
    """
    if architecture != ARCHITECTURE:
        raise InputError(f"{study.path}: a study's guests are {ARCHITECTURE}; leave out --architecture {architecture}")
    kind, cells = _of_one_configuration(study)
    words = ((cell.filesystem.mount_type, cell.scheduler.name, cell.medium.provides) for cell in cells)
    needed = {study.tool, *(word for some in words for word in some)}
    return Fragment(_settings(kernel.files_of(VERSION, kind), needed))


def _of_one_configuration(study: Study) -> tuple[str, list[Cell]]:
    """The cells whose kernel can be shrunk, and the kind of its configuration."""
    cells = plan(study)
    kept = [cell for cell in cells if cell.kernel in CONFIGURATIONS]
    found = sorted({cell.kernel for cell in kept})
    others = Counter(cell.kernel for cell in cells if cell.kernel not in CONFIGURATIONS)
    named = _quoted(sorted(others))
    if not found:
        raise InputError(f"{study.path}: kernel = {named}: {_ONLY}; give a study that has cells with one of these")
    if len(found) > 1:
        raise InputError(
            f"{study.path}: kernel = {_quoted(found)}: each has a configuration of its own, and one kernel is shrunk "
            "at a time; give a copy of the study that has one of them"
        )
    if others:
        count = f"{others.total()} of {len(cells)} cells"
        _log.warning("%s: kernel = %s: %s are left out: %s", study.path, named, count, _ONLY)
    return CONFIGURATIONS[found[0]], kept


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


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


def _settings(files: Sequence[Path], needed: set[str]) -> Iterator[Setting]:
    """The settings of the guest's kernel; a switch that is not needed is left out, a number of one goes with it."""
    of = {option: part for part in parts() for option in part.options}
    for file in files:
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
