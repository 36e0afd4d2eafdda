# SPDX-License-Identifier: Apache-2.0
"""Explain why cells cannot run, or failed. Before any cell runs, find CPUs that no guest starts on, and missing
checkers. After a failure, find the line of a profile that is the likely cause: a module that the guest's kernel
refused, or a name that the kernel does not know; and the command of the user's that met a limit of its guest.

A failure that only shows when a cell runs is that cell's own, and stops no other. The reason in a result comes from the
guest, and contains no path of this host; the hints name file and line. Must not know how a cell is run.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from flashbed.common import paths
from flashbed.common.errors import InputError, several
from flashbed.common.tomlfile import Keys, TomlFile
from flashbed.execution.cell_medium import check_command
from flashbed.execution.repetition import own_modules
from flashbed.execution.scheduler import Record
from flashbed.guest_output.assessment import Status
from flashbed.image import emulator
from flashbed.machine import checker, deaths, qemu
from flashbed.profiles.library import ProfileKind, Selector
from flashbed.study.loading import Study
from flashbed.study.plan import Cell
from flashbed.workload import WORKLOADS
from flashbed.workload.program import UserProgram


def check_beforehand(study: Study, cells: Sequence[Cell]) -> None:
    """Check the boards and checkers of `cells`. Raises InputError, with the line, for a CPU that QEMU does not accept,
    and SetupError for checkers that are missing on this host.
    """
    check_programs(cells)
    # Last: the first time, it builds the emulator
    refused = {cpu: why for cpu in dict.fromkeys(cell.board.cpu for cell in cells) if (why := refusal(cpu))}
    if refused:
        raise InputError(several(_of_boards(study, refused)))


def refusal(cpu: str) -> str:
    """Return why the lab's emulator starts no guest on this CPU; "" if it does. Build the emulator if it is missing."""
    return qemu.refusal(emulator.program(), cpu)


def check_programs(cells: Sequence[Cell]) -> None:
    """Raise SetupError if this host lacks a checker of these cells."""
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


_KEYS = {"prepare": "prepare", "warm": "warm", "measure": "command", "check": "check"}
"""The keys of a study whose commands run in these steps."""

_STEP = re.compile(rb"^flashbed: (\w+)\r?$", re.MULTILINE)
"""The line of the console that says which step begins (guest/steps)."""

_REMEDIES = (
    (r"\(the guest has no room for more processes\)", "start fewer processes, or give the board more memory (`ram`)"),
    (r"\(guests have no network\)", "give what it would fetch as `files`, or as `packages`; only 127.0.0.1 works"),
    (
        os.strerror(errno.ENOSPC),
        "/mnt has the size of the medium (`used_bytes`), and all else is in the board's memory (`ram`); give the full "
        "one more, or write less",
    ),
    (r"\bsh: \d+: \S+: not found", "name the package that has the program, or its interpreter, in `packages`"),
    (os.strerror(errno.ENOEXEC), "build it with aarch64-linux-gnu-gcc: guests are arm64"),
    (r"the guest's time \(limit\)", "raise `limit`, seconds of the guest's time, if the command ends at all"),
)
"""For patterns of guest/launch's complaints: what to do. The first that is there counts."""

NOT_TAKEN = "insmod: can't insert '/lib/flashbed/{}.ko': "
"""insmod's message (busybox) for a module that the kernel refused; the reason follows."""


def hints(study: Study, failures: Iterable[Record]) -> list[str]:
    """Return a sentence for each line of a profile or study that is the likely cause of failures, with file and key."""
    return list(dict.fromkeys(hint for record in failures for hint in _hints_of(study, record)))


def _hints_of(study: Study, record: Record) -> Iterator[str]:
    cell, step = record.repetition.cell, _failed_step(record.folder)
    if isinstance(WORKLOADS[study.tool], UserProgram):
        yield from _of_programs(study, record, step)
    if step is None:
        return
    for module, folder in own_modules(cell):
        _, is_refused, why = step.complaint.partition(NOT_TAKEN.format(module))
        if is_refused:
            kind: ProfileKind = "filesystem" if module == cell.filesystem.module else "scheduler"
            refused = f"the guest's kernel did not take {module}, made from {folder} ({why})"
            remedy = "look at what its init returns, and at the names that it wants of the kernel"
            yield _message(study, record, kind, ("module",), f"{refused}: {remedy}")
            return
    if step.name == "mount" and step.has(errno.ENODEV):
        device = cell.filesystem.mount_device.replace("{device}", "device")
        unknown = f'the guest knows no file system "{cell.filesystem.mount_type}", or has no {device}'
        names = "a module registers its name as .name of a file_system_type"
        yield _message(study, record, "filesystem", ("mount", "type"), f"{unknown}; {names}")
    elif step.name == "scheduler" and step.has(errno.EINVAL):
        unknown = f'the guest knows no scheduler "{cell.scheduler.name}", or one of these numbers is out of its range'
        names = "a module registers its name as .elevator_name"
        yield _message(study, record, "scheduler", ("name",), f"{unknown}; {names}")


def _of_programs(study: Study, record: Record, step: qemu.FailedStep | None) -> Iterator[str]:
    """Yield what to do about a command that met a limit of its guest or of this host, or lacks a program."""
    name, todo = _step_of(record.folder) if step is None else step.name, ""
    if step is not None:
        todo = next((todo for words, todo in _REMEDIES if re.search(words, step.complaint)), "")
    elif record.result.outcome == Status.TIMED_OUT:
        todo = "it computes for longer than this host's limit; raise that (--limit) if it ends at all"
    elif record.result.reason.startswith(deaths.OUT_OF_MEMORY):
        todo = "start fewer processes, let them take less memory, or give the board more (`ram`)"
    if name in _KEYS and todo:
        key = "process" if name == "measure" and "process" in study.tables_of_tool else _KEYS[name]
        value = record.repetition.cell.coordinates.get(key, "")
        yield f"{study.place_of(key, value)}: {todo}"


def _step_of(folder: Path) -> str:
    """Return the last step that a guest began; "" if it began none."""
    console = folder / "console.log"
    steps = _STEP.findall(console.read_bytes()) if console.is_file() else []
    return steps[-1].decode() if steps else ""


def _failed_step(folder: Path) -> qemu.FailedStep | None:
    """Return the step that failed, from the guest's files; None if none did."""
    out = folder / "out"
    if not (out / qemu.FAILED).is_file():
        return None
    return qemu.failed_step({file.name: file.read_bytes() for file in out.iterdir() if file.is_file()})


def _message(study: Study, record: Record, kind: ProfileKind, keys: tuple[str, ...], text: str) -> str:
    profile = {**study.fixed, **record.repetition.cell.coordinates}[kind]
    return study.library.file(kind, Selector.parse(profile).name).message(keys, text)
