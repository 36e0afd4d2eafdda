# SPDX-License-Identifier: Apache-2.0
"""A board that says what a shared cache line costs: processes that meet at a lock do less, those that do not as much,
and the bytes are the same each time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.execution.repetition import Finished
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

CPUS = 4
BOARD = f"arm64-1000:cpus={CPUS},sockets=2,ram=512M"
CELL = f"""
    filesystem = "ext2"
    [workload]
    tool = "fxmark"
    tests = "read-private,create-shared"
    file = "1M"
    processes = {CPUS}
    run_us = 20000
"""


def measured(study_file: StudyWriter, measure: Measure, folder: Path, board: str) -> Finished:
    (repetition,) = run.prepare(load_study(study_file(CELL, board=board, medium="null-2g")))
    return measure(repetition, folder)


def test_creating_files_in_one_folder_pays_for_the_lines_of_its_lock(
    study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    priced = f"{BOARD},line_transfer_ns=100,line_transfer_other_ns=300"
    free = measured(study_file, measure, tmp_path / "free", BOARD).result
    first, second = (measured(study_file, measure, tmp_path / name, priced) for name in ("first", "second"))
    assert first.files == second.files
    assert first.result == second.result
    files_free, files_priced = (
        finished.measurement.metrics["create_shared_operations"] for finished in (free, first.result)
    )
    # 8 to 20 lines that change CPU for each file, 200 ns in the mean; a file more or less in 20 ms is 0.04 us
    assert 1.6e-6 < 1 / files_priced - 1 / files_free < 4e-6
    private = (
        first.result.measurement.metrics["read_private_operations"]
        / free.measurement.metrics["read_private_operations"]
    )
    assert private == pytest.approx(1, abs=0.01)
    assert "line_same" not in free.environment["machine"]
    assert "mips=1000,line_same=100,line_other=300 " in first.result.environment["machine"]
