# SPDX-License-Identifier: Apache-2.0
"""A cell whose measurement is a script of the test's: what it leaves in /out comes back."""

from __future__ import annotations

import threading
from pathlib import Path

from flashbed.execution import repetition, run
from flashbed.machine import qemu
from flashbed.medium import conditioning
from flashbed.study.loading import load_study

BODY = """
    [workload]
    tool = "fio"
    pattern = "read"
    request = "4k"
    file = "256k"
"""


def outcome_of(study: Path, script: str, folder: Path, limit_s: float = 120) -> dict[str, bytes]:
    """The files of /out after the only repetition of `study`, with `script` in the place of its measurement."""
    (wanted,) = run.prepare(load_study(study))
    cell, image = wanted.cell, wanted.image
    files = qemu.Files(image.kernel.image, *(folder / name for name in ("initramfs", "state.bin", "data.img")))
    job = {**repetition.job(cell, image), "measure": script.encode()}
    image.write_initramfs(repetition.program_set(cell), job, files.initramfs)
    conditioning.make(image.media_tool, files.state, cell.medium.core_parameters, cell.medium.condition)
    image.media_tool.create_content(files.state, files.data)
    setup = qemu.Setup(cell.board.instruction_ns, cell.board.ram, cell.board.cpu, cell.seed)
    outcome = qemu.run(setup, files, folder, limit_s, threading.Event())
    assert outcome.status == "measured", outcome
    return dict(outcome.files)
