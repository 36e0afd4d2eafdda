# SPDX-License-Identifier: Apache-2.0
"""Run guests with a new raw chip and a measurement that is not a study's. Must not know what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flashbed.machine.outcomes import Outcome
from flashbed.study.plan import Cell
from tests.support import guest_rig

STUDY = """\
title = "YAFFS2"
board = "{board}"
medium = "{chip}"
filesystem = "{filesystem}"
seeds = [1]
workload = {{ tool = "fio", pattern = "write", request = "4k", file = "64k" }}
"""

LIMIT_S = 1800
"""The seconds of this host after which a guest counts as hung."""

MEDIUM_OPTIONS = ""
"""Options of the emulator's medium, after those of the cell."""


def boot(
    folder: Path, script: str, *, board: str, chip: str, filesystem: str, beside: Mapping[str, str]
) -> tuple[Cell, Outcome]:
    """Return the files of a guest whose measurement is `script`, with more files in /job. Create `folder`."""
    folder.mkdir()
    study = folder / "study.toml"
    study.write_text(STUDY.format(board=board, chip=chip, filesystem=filesystem))
    rig = guest_rig.new(study, folder)
    files = {name: text.encode() for name, text in beside.items()}
    outcome = guest_rig.boot(rig, beside=files, medium_options=MEDIUM_OPTIONS, limit_s=LIMIT_S, measure=script)
    for file in (rig.files.state, rig.files.data, rig.files.initramfs):
        file.unlink()
    return rig.cell, outcome


def statistics(text: bytes) -> dict[str, int]:
    """Return the numbers, by name, of the only mount in /sys/kernel/debug/yaffs2/mtd0."""
    pairs = (line.split() for line in text.decode().splitlines() if not line.startswith("device "))
    return {name: int(value) for name, value in pairs}
