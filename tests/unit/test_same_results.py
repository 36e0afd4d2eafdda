# SPDX-License-Identifier: Apache-2.0
"""bench/same_results.py tells whether two sets of results say the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench/same_results.py"
TABLE = "filesystem,seed,key,bandwidth\next2,1,ab,1.25\nfat16,1,cd,2.5\n"


def compared(folder: Path, before: str, after: str) -> tuple[int, str]:
    """Exit status and what was said of a study with these two tables."""
    for name, text in (("before", before), ("after", after)):
        (folder / name / "quick").mkdir(parents=True)
        (folder / name / "quick/results.csv").write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, "before", "after"], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_keys_may_differ_and_nothing_else(tmp_path: Path) -> None:
    assert compared(tmp_path, TABLE, TABLE.replace("cd", "ef")) == (0, "quick: the same\n")


def test_a_digit_that_differs_is_named(tmp_path: Path) -> None:
    said = compared(tmp_path, TABLE, TABLE.replace("2.5", "2.51"))
    assert said == (1, "quick: 1 differ\n  line 3: bandwidth: 2.5 / 2.51\n")


def test_rows_and_columns_that_one_lacks(tmp_path: Path) -> None:
    without = "filesystem,seed,key\next2,1,ab\n"
    said = "quick: 2 differ\n  2 rows, and 1\n  line 2: bandwidth: 1.25 / absent\n"
    assert compared(tmp_path, TABLE, without) == (1, said)


def test_nothing_to_compare_is_not_the_same(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    assert subprocess.run([sys.executable, SCRIPT, "before", "after"], cwd=tmp_path).returncode == 2
