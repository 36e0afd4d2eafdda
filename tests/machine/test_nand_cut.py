# SPDX-License-Identifier: Apache-2.0
"""File systems on a raw chip keep what they synced, through power cuts in the middle of programs and erases."""

from __future__ import annotations

from pathlib import Path

import pytest
from nand_cuts import STACKS, run_rounds, write_profiles

from flashbed import run
from flashbed.study import load_study

STUDY = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'

FILL = {"small pages": 1_000_000, "large pages": 2_500_000}
"""So much is filled that collection runs all the time."""


def rounds(study_file, folder: Path, stack: str, chip: str, seed: int, cuts: int) -> str:
    write_profiles(folder, chip)
    (wanted,) = run.prepare(load_study(study_file(STUDY, filesystem="rounds", medium="small")))
    work = folder / "work"
    work.mkdir()
    return run_rounds(wanted, work, STACKS[stack], 60 + 20 * cuts, CUTS=cuts, SEED=seed, FILL=FILL[chip])


@pytest.mark.parametrize("stack", STACKS)
def test_what_was_synced_is_there(study_file, tmp_path: Path, stack: str) -> None:
    said = rounds(study_file, tmp_path, stack, "large pages", 1, 20)
    assert said.splitlines()[-1].startswith("20 cuts"), said
