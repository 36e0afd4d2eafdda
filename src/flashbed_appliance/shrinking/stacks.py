# SPDX-License-Identifier: Apache-2.0
"""Derive the kernel configuration fragment of a study: the guest kernel of its cells, without the file systems,
schedulers and drivers that no cell needs.

The study still runs on the lab's kernel. The fragment describes the kernel of a product with this storage stack.
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
from flashbed_appliance.shrinking.fragment import COLUMNS, ConfigSetting, Fragment, values
from flashbed_appliance.shrinking.kernel_build import VERSION

_log = logging.getLogger("flashbed")

ARCHITECTURE = "arm64"
"""The only architecture of the lab's guests."""

CONFIGURATIONS = {f"{VERSION}{kind}": kind for kind in kernel.KINDS}
"""Kernels that are built from the same source as small kernels, and the kind of configuration of each."""

_ONLY = f"only kernels that the lab builds from Linux {VERSION} ({', '.join(CONFIGURATIONS)}) can be shrunk"

FILE = Path(__file__).with_name("stacks.toml")

LEFT_OUT = "Not in this study"
SOME, ALL = "Needed by this study", "The lab's guest"


def fragment_of(study: Study, architecture: str) -> Fragment:
    """Return the fragment of the kernel for this study. Cells with a kernel that is not in CONFIGURATIONS are ignored,
    with a warning.

    Raises InputError for another architecture, if no cells remain, or if the remaining ones have several
    configurations.
    """
    if architecture != ARCHITECTURE:
        raise InputError(f"{study.path}: a study's guests are {ARCHITECTURE}; leave out --architecture {architecture}")
    kind, cells = _of_one_configuration(study)
    words = ((cell.filesystem.mount_type, cell.scheduler.name, cell.medium.provides) for cell in cells)
    needed = {study.tool, *(word for some in words for word in some)}
    return Fragment(_settings(kernel.files_of(VERSION, kind), needed))


def _of_one_configuration(study: Study) -> tuple[str, list[Cell]]:
    """Return the cells whose kernel can be shrunk, and the kind of their configuration."""
    cells = plan(study)
    kept = [cell for cell in cells if cell.kernel in CONFIGURATIONS]
    kernels = sorted({cell.kernel for cell in kept})
    others = Counter(cell.kernel for cell in cells if cell.kernel not in CONFIGURATIONS)
    named = _quoted(sorted(others))
    if not kernels:
        raise InputError(f"{study.path}: kernel = {named}: {_ONLY}; give a study that has cells with such a kernel")
    if len(kernels) > 1:
        raise InputError(
            f"{study.path}: kernel = {_quoted(kernels)}: these have several configurations, but one kernel is shrunk "
            "at a time; give a copy of the study that has one of them"
        )
    if others:
        count = f"{others.total()} of {len(cells)} cells"
        _log.warning("%s: kernel = %s: %s are ignored: %s", study.path, named, count, _ONLY)
    return CONFIGURATIONS[kernels[0]], kept


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


@dataclass(frozen=True)
class Part:
    """Options that only some stacks need, from stacks.toml."""

    needed_by: frozenset[str]
    reason: str
    options: tuple[str, ...]
    adds: tuple[str, ...] = ()


def parts() -> list[Part]:
    """Return all parts of stacks.toml."""
    tables = tomllib.loads(FILE.read_text())["part"]
    return [
        Part(frozenset(table["needed_by"]), table["reason"], tuple(table["options"]), tuple(table.get("adds", ())))
        for table in tables
    ]


def _settings(files: Sequence[Path], needed: set[str]) -> Iterator[ConfigSetting]:
    """Yield the settings of the guest's kernel. Build its modules in. Set switches that no cell needs to n, and leave
    out such numbers.
    """
    of = {option: part for part in parts() for option in part.options}
    for file in files:
        text = file.read_text()
        for option, value in values(text).items():
            line = text[: text.index(f"{option}=" if value != "n" else f"{option} ")].count("\n") + 1
            built_in = "y" if value == "m" else value
            if option not in of:
                yield ConfigSetting(option, built_in, "Each guest of the lab has it.", ALL, file, line)
            elif of[option].needed_by & needed:
                yield ConfigSetting(option, built_in, of[option].reason, SOME, file, line)
            elif value in COLUMNS:
                yield ConfigSetting(option, "n", of[option].reason, LEFT_OUT, file, line)
    for part in parts():
        if part.needed_by & needed:
            yield from (ConfigSetting(option, "y", part.reason, SOME, FILE, 1) for option in part.adds)
