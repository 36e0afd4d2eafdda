# SPDX-License-Identifier: Apache-2.0
"""Why cells cannot run, or did not: what can be known before any of them runs (a CPU that no guest starts on, a checker
that is not there), and what failed cells say of the study's profiles (a module that the guest's kernel does not take, a
name that the kernel does not know when it has taken the module).

What only shows when a cell runs is that cell's own failure, and stops no other. The reason in a result is the guest's,
and holds no place of this host; who runs the study is told the file and line. Must not know how a cell is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import InputError, several
from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import TomlFile
from flashbed.execution.cell_medium import check_command
from flashbed.execution.repetition import own_modules
from flashbed.execution.scheduler import Record
from flashbed.image import emulator
from flashbed.machine import checker, qemu
from flashbed.profiles.library import Kind, Selector
from flashbed.study.loading import Study
from flashbed.study.plan import Cell


def check_beforehand(study: Study, cells: Sequence[Cell]) -> None:
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
    commands = [check_command(cell, Path()) for cell in cells]
    checker.installed(dict.fromkeys(command[0] for command in commands if command), paths.checkers())


def _of_boards(study: Study, refused: dict[str, str]) -> Iterable[str]:
    for text in study.values_of("board"):
        selector, why = Selector.parse(text), refused.get(study.library.board(text).cpu)
        if why and "cpu" in selector.options:
            at: Keys = ("axes", "board", study.axes["board"].index(text)) if "board" in study.axes else ("board",)
            yield TomlFile.read(study.path).message(at, f'"{text}": cpu: {why}')
        elif why:
            yield study.library.file("board", selector.name).message(("cpu",), why)


NOT_TAKEN = "insmod: can't insert '/lib/flashbed/{}.ko': "
"""What the guest says of a module; why comes behind it."""


def hints(study: Study, failures: Iterable[Record]) -> list[str]:
    """A sentence for each line of a profile that is the likely cause, with file and key."""
    return list(dict.fromkeys(hint for one in failures for hint in _hints_of(study, one)))


def _hints_of(study: Study, record: Record) -> Iterator[str]:
    cell, reason = record.repetition.cell, record.result.reason
    for module, folder in own_modules(cell):
        _, found, why = reason.partition(NOT_TAKEN.format(module))
        if found:
            kind: Kind = "filesystem" if module == cell.filesystem.module else "scheduler"
            refused = f"the guest's kernel did not take {module}, made from {folder} ({why})"
            what = "look at what its init returns, and at the names that it wants of the kernel"
            yield _message(study, record, kind, ("module",), f"{refused}: {what}")
            return
    if reason.startswith("step mount: ") and "No such device" in reason:
        device = cell.filesystem.mount_device.replace("{device}", "device")
        unknown = f'the guest knows no file system "{cell.filesystem.mount_type}", or has no {device}'
        names = "a module registers its name as .name of a file_system_type"
        yield _message(study, record, "filesystem", ("mount", "type"), f"{unknown}; {names}")
    elif reason.startswith("step scheduler: ") and "Invalid argument" in reason:
        unknown = f'the guest knows no scheduler "{cell.scheduler.name}", or one of these numbers is out of its range'
        names = "a module registers its name as .elevator_name"
        yield _message(study, record, "scheduler", ("name",), f"{unknown}; {names}")


def _message(study: Study, record: Record, kind: Kind, keys: tuple[str, ...], text: str) -> str:
    said = {**study.fixed, **record.repetition.cell.coordinates}[kind]
    return study.library.file(kind, Selector.parse(said).name).message(keys, text)
