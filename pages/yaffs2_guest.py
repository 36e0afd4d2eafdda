# SPDX-License-Identifier: Apache-2.0
"""Guests with a new raw chip that run another measurement than a study's. Must not know what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flashbed.machine.base import Outcome
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
"""This host's time after which a guest counts as hung."""

MEDIUM_OPTIONS = ""
"""For the emulator's medium, behind the cell's."""


def boot(
    folder: Path, script: str, *, board: str, chip: str, filesystem: str, beside: Mapping[str, str]
) -> tuple[Cell, Outcome]:
    """What a guest brings back whose measurement is `script`, with other files in /job beside it. Makes `folder`."""
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
    """Numbers by name of the only mount in /sys/kernel/debug/yaffs2/mtd0."""
    pairs = (line.split() for line in text.decode().splitlines() if not line.startswith("device "))
    return {name: int(value) for name, value in pairs}
