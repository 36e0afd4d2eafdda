# SPDX-License-Identifier: Apache-2.0
"""Guests with a new raw chip that run another measurement than a study's. Must not know what is measured."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from flashbed.execution import repetition, run
from flashbed.machine import qemu
from flashbed.machine.base import Outcome
from flashbed.study.loading import load_study
from flashbed.study.plan import Cell

STUDY = """\
title = "YAFFS2"
board = "{board}"
medium = "{chip}"
filesystem = "{filesystem}"
seeds = [1]
workload = {{ tool = "fio", pattern = "write", request = "4k", file = "64k" }}
"""

LIMIT_S = 1800
"""This host's time after which a guest counts as hung."""

OF_THE_STUDY = "FILLER_KIB=0\n"
"""Appended to the cell's variables: the seed moves nothing."""


def boot(
    folder: Path, script: str, *, board: str, chip: str, filesystem: str, beside: Mapping[str, str]
) -> tuple[Cell, Outcome]:
    """What a guest brings back whose measurement is `script`, with other files in /job beside it. Makes `folder`."""
    folder.mkdir()
    study = folder / "study.toml"
    study.write_text(STUDY.format(board=board, chip=chip, filesystem=filesystem))
    (wanted,) = run.prepare(load_study(study))
    cell, image = wanted.cell, wanted.image
    files = qemu.Files(image.kernel.image, folder / "initramfs", folder / "state", folder / "data")
    image.media_tool.create(files.state, cell.medium.core_parameters)
    image.media_tool.create_content(files.state, files.data)
    job = repetition.job(cell, image) | {name: text.encode() for name, text in beside.items()}
    job |= {"measure": script.encode(), "cell.env": job["cell.env"] + OF_THE_STUDY.encode()}
    image.write_initramfs(repetition.program_set(cell), job, files.initramfs)
    setup = qemu.Setup(cell.board.instruction_ns, cell.board.ram, cell.board.cpu, cell.seed)
    outcome = qemu.run(setup, files, folder, LIMIT_S, threading.Event())
    if outcome.status != "measured":
        raise RuntimeError(f"{outcome.reason}\n{outcome.console.decode(errors='replace')[-2000:]}")
    for file in (files.state, files.data, files.initramfs):
        file.unlink()
    return cell, outcome


def statistics(text: bytes) -> dict[str, int]:
    """Numbers by name of the only mount in /proc/yaffs."""
    pairs = (line.split() for line in text.decode().splitlines() if not line.startswith("device "))
    return {name: int(value) for name, value in pairs}
