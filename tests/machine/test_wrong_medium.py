# SPDX-License-Identifier: Apache-2.0
"""A medium's state that is truncated, of another version or of another profile is refused by the guest, with the cause
on its console.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from flashbed.execution import repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.machine import qemu
from flashbed.study.loading import load_study

STUDY = """
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "256k"
"""


def cut(wanted: Repetition, state: Path) -> None:
    with state.open("r+b") as file:
        file.truncate(1 << 20)


def age(wanted: Repetition, state: Path) -> None:
    with state.open("r+b") as file:
        file.seek(8)  # the version, behind 8 bytes of magic
        file.write(b"\x01")


def exchange(wanted: Repetition, state: Path) -> None:
    wanted.image.media_tool.create(state, {**wanted.cell.medium.core_parameters, "read_ns": 1})


def empty(wanted: Repetition, state: Path) -> None:
    state.write_bytes(bytes(1 << 20))


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        (cut, "refused: truncated: smaller than the medium it describes"),
        (age, "refused: made by another version of the media core"),
        (exchange, "refused: another medium, with parameters of digest "),
        (empty, "refused: not a medium's state (no magic)"),
    ],
)
def test_the_guest_refuses(spoil: Callable[[Repetition, Path], None], cause: str, study_file, tmp_path: Path) -> None:
    (wanted,) = run.prepare(load_study(study_file(STUDY, filesystem="ext2")))
    cell, image = wanted.cell, wanted.image
    files = qemu.Files(image.kernel.image, *(tmp_path / name for name in ("initramfs", "state.bin", "data.img")))
    image.write_initramfs(repetition.program_set(cell), repetition.job(cell, image), files.initramfs)
    image.media_tool.create(files.state, cell.medium.core_parameters)
    spoil(wanted, files.state)
    with files.data.open("wb") as data:
        data.truncate(cell.medium.size_bytes)
    setup = qemu.Setup(cell.board.instruction_ns, cell.board.ram, cell.board.cpu, cell.seed)
    outcome = qemu.run(setup, files, tmp_path, 60, threading.Event())
    said = "insmod: can't insert '/lib/flashbed/media_blk.ko': Invalid argument"  # the reason has the tool's words
    assert (outcome.status, outcome.reason) == ("failed", f"step medium: exit status 22: {said}")
    assert cause in outcome.console.decode()
