# SPDX-License-Identifier: Apache-2.0
"""A board that says what a shared cache line costs: processes that meet at a lock do less, those that do not as much,
and the bytes are the same each time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study

CPUS = 4
BOARD = f"arm64-1000:cpus={CPUS},sockets=2,ram=512M"
CELL = f"""
    filesystem = "ext2"
    [workload]
    tool = "fxmark"
    tests = "read-private,create-shared"
    file = "1M"
    processes = {CPUS}
    run_us = 2000
"""


def measured(study_file, measure, folder: Path, board: str):
    (wanted,) = run.prepare(load_study(study_file(CELL, board=board, medium="null-2g")))
    return measure(wanted, folder)


def test_creating_files_in_one_folder_pays_for_the_lines_of_its_lock(study_file, measure, tmp_path: Path) -> None:
    priced = f"{BOARD},line_transfer_ns=100,line_transfer_other_ns=300"
    free = measured(study_file, measure, tmp_path / "free", BOARD).result
    first, second = (measured(study_file, measure, tmp_path / name, priced) for name in ("first", "second"))
    assert first.files == second.files
    assert first.result == second.result
    shared, private = (
        first.result["metrics"][test] / free["metrics"][test]
        for test in ("create_shared_operations", "read_private_operations")
    )
    assert 0.80 < shared < 0.86  # four processes at one lock: a fifth more for each file
    assert private == pytest.approx(1, abs=0.01)
    assert "line_same" not in free["environment"]["machine"]
    assert "mips=1000,line_same=100,line_other=300 " in first.result["environment"]["machine"]
