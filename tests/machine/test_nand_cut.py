# SPDX-License-Identifier: Apache-2.0
"""File systems on a raw chip keep what they synced, through power cuts in the middle of programs and erases."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.machine.nand_cuts import STACKS, run_rounds, write_profiles
from tests.support.fixture_types import StudyWriter

STUDY = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'

FILL = {"small pages": 1_000_000, "large pages": 2_500_000}
"""So much is filled that collection runs all the time."""

SEEDS, CUTS = range(1, 11), 100
"""Each file system: a thousand cuts, a hundred in each guest."""


def rounds(
    study_file: StudyWriter, folder: Path, stack: str, seed: int, cuts: int, chip: str = "large pages", **more: object
) -> str:
    write_profiles(folder, chip)
    (repetition,) = run.prepare(load_study(study_file(STUDY, filesystem="rounds", medium="small")))
    work = folder / "work"
    work.mkdir()
    settings = {"CUTS": cuts, "SEED": seed, "FILL": FILL[chip], **more}
    return run_rounds(repetition, work, STACKS[stack], 120 + 60 * cuts, **settings)


def test_a_few_cuts(study_file: StudyWriter, tmp_path: Path) -> None:
    output = rounds(study_file, tmp_path, "ubifs", 1, 4)
    assert output.splitlines()[-1].startswith("4 cuts"), output


def test_what_is_lost_is_told(study_file: StudyWriter, tmp_path: Path) -> None:
    output = rounds(study_file, tmp_path, "jffs2", 1, 8, LOSE=1)
    assert "lost: file" in output
    assert "the power went" in output


@pytest.mark.long
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_thousand_cuts(study_file: StudyWriter, tmp_path: Path, stack: str, seed: int) -> None:
    output = rounds(study_file, tmp_path, stack, seed, CUTS)
    print(output.splitlines()[-1])
    assert output.splitlines()[-1].startswith(f"{CUTS} cuts"), output


@pytest.mark.long
@pytest.mark.parametrize("stack", ["jffs2", "yaffs2", "ftl-page", "ftl-bast", "ftl-fast"])
def test_cuts_of_a_chip_with_small_pages(study_file: StudyWriter, tmp_path: Path, stack: str) -> None:
    output = rounds(study_file, tmp_path, stack, 1, CUTS, "small pages")
    assert output.splitlines()[-1].startswith(f"{CUTS} cuts"), output
