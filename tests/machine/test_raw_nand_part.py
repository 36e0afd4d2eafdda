# SPDX-License-Identifier: Apache-2.0
"""A part of a raw chip, as boards have it beside what boots them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from flashbed.execution import repetition, run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

STUDY = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'


@pytest.mark.long
def test_a_part_of_a_chip_is_a_device(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    medium = "slc-nand-64m:factory_bad_blocks=0,used_bytes=8M"
    (planned,) = run.prepare(load_study(study_file(STUDY, filesystem="jffs2", medium=medium)))
    finished = measure(planned, tmp_path / "part")
    assert finished.files["out/empty.txt"].decode().splitlines()[-1].split()[1] == "8192"


@pytest.mark.long
def test_a_part_that_ends_within_a_block_is_refused(study_file: StudyWriter, tmp_path: Path) -> None:
    medium = "slc-nand-64m:used_bytes=8200k"
    (planned,) = run.prepare(load_study(study_file(STUDY, filesystem="jffs2", medium=medium)))
    (tmp_path / "part").mkdir()
    finished = repetition.execute(planned, tmp_path / "part", 300, threading.Event())
    assert not finished.result.is_measured
    assert b"used_bytes=8396800: must be whole blocks of 16384" in finished.files["console.log"]
