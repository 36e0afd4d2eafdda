# SPDX-License-Identifier: Apache-2.0
"""What can be known of cells before any of them runs: a CPU that no guest starts on, a checker that is not there.

What only shows when a cell runs is that cell's own failure, and stops no other. Must not know how a cell is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from flashbed.common import programs
from flashbed.common.errors import InputError, SetupError, several
from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import TomlFile
from flashbed.execution.checking import check_command
from flashbed.image import emulator
from flashbed.machine import qemu
from flashbed.profiles.library import Selector
from flashbed.study.loading import Study
from flashbed.study.plan import Cell


def check(study: Study, cells: Sequence[Cell]) -> None:
    """Raises InputError, with the line, for the CPU of a board that QEMU does not take; SetupError for checkers that
    are missing on this host. Only what `cells` use is looked at.
    """
    check_programs(cells)
    # Last: the first time, it builds the emulator
    refused = {cpu: why for cpu in dict.fromkeys(cell.board.cpu for cell in cells) if (why := refusal(cpu))}
    if refused:
        raise InputError(several(_of_boards(study, refused)))


def refusal(cpu: str) -> str:
    """Why the lab's emulator, which is built if it is missing, starts no guest on this CPU; "" if it does."""
    return qemu.refusal(emulator.program(), cpu)


def check_programs(cells: Sequence[Cell]) -> None:
    """Raises SetupError for checkers of these cells that are missing on this host."""
    missing = dict.fromkeys(program for program in _checkers(cells) if programs.found(program) is None)
    if missing:
        names, are = ", ".join(missing), "is" if len(missing) == 1 else "are"
        raise SetupError(
            f"{names} {are} not installed, and what was measured could not be checked. `flashbed doctor` says how to "
            "get it."
        )


def _of_boards(study: Study, refused: dict[str, str]) -> Iterable[str]:
    for text in study.axes.get("board") or (study.fixed["board"],):
        selector, why = Selector.parse(text), refused.get(study.library.board(text).cpu)
        if why and "cpu" in selector.options:
            at: Keys = ("axes", "board", study.axes["board"].index(text)) if "board" in study.axes else ("board",)
            yield TomlFile.read(study.path).message(at, f'"{text}": cpu: {why}')
        elif why:
            yield study.library.file("board", selector.name).message(("cpu",), why)


def _checkers(cells: Iterable[Cell]) -> Iterable[str]:
    """The programs that look at what cells leave behind, where nothing lies between the file system and the medium."""
    for cell in cells:
        if command := check_command(cell, Path("data.img")):
            yield command[0]
