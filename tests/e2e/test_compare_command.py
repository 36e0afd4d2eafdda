# SPDX-License-Identifier: Apache-2.0
"""flashbed compare: what it prints, and how it ends."""

from __future__ import annotations

from pathlib import Path

from tests.support.facts import Facts
from tests.support.fixture_types import Flashbed
from tests.support.made_up_exports import Row, write


def slow(row: Row) -> None:
    row["counted"]["cpu_ns"] += 10_000 + row["seed"]


def test_the_same_ends_with_0(flashbed: Flashbed, tmp_path: Path) -> None:
    done = flashbed("compare", write(tmp_path / "a"), write(tmp_path / "b"), "--exact")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "same bytes: 2 cells, 6 repetitions"


def test_worse_ends_with_5_and_names_the_cell(flashbed: Flashbed, tmp_path: Path) -> None:
    done = flashbed("compare", write(tmp_path / "a"), write(tmp_path / "b", slow), "--html", tmp_path / "x/page.html")
    assert done.returncode == 5
    assert Facts("WORSE: ext2", "CPU time", "1 %", "3 seeds", "code").within(done.stdout)
    assert done.stderr == "flashbed: 2 figures are worse than the limits allow\n"
    page = (tmp_path / "x/page.html").read_text()
    # In the reports' style: what came of it first, the rest folded, nothing from elsewhere
    assert '<div class="lead bad">' in page
    assert page.index("CPU time: worse in 2 of 2 cells, up to +1 %") < page.index("A: ") < page.index("What differs")
    assert "--bad-ground:" in page
    folded = page[page.index("All figures that differ") :]
    assert "<summary>2 rows</summary>" in folded
    assert "http" not in page.replace("http-equiv", "")


def test_a_limit_lets_it_pass_and_exact_does_not(flashbed: Flashbed, tmp_path: Path) -> None:
    sets = write(tmp_path / "a"), write(tmp_path / "b", slow)
    assert flashbed("compare", *sets, "--limit", "cpu_time=2").returncode == 0
    done = flashbed("compare", *sets, "--limit", "cpu_time=2", "--exact")
    assert (done.returncode, done.stderr) == (5, "flashbed: not the same\n")


def test_a_kernel_that_fails_ends_with_5_whatever_the_limits(flashbed: Flashbed, tmp_path: Path) -> None:
    def fails(row: Row) -> None:
        row.update(outcome="failed", metrics=dict.fromkeys(row["metrics"]))

    worst = write(tmp_path / "b", lambda row: fails(row) if row["seed"] == 3 else None)
    done = flashbed("compare", write(tmp_path / "a"), worst, "--limit", "cpu_time=50")
    assert done.returncode == 5
    assert "WORSE: ext2: measured in A, and in B failed with seed 3" in done.stdout
    assert done.stderr == Facts("in 2 cells", "B fails", "A does not")


def test_what_was_measured_in_neither_is_not_the_same(flashbed: Flashbed, tmp_path: Path) -> None:
    def failed(row: Row) -> None:
        row.update(outcome="failed", metrics=dict.fromkeys(row["metrics"]))

    def ext2_failed(row: Row) -> None:
        if row["filesystem"] == "ext2":
            failed(row)

    done = flashbed("compare", write(tmp_path / "a", failed), write(tmp_path / "b", failed))
    assert (done.returncode, done.stdout) == (6, "")
    assert done.stderr.endswith("have no cell that was measured in both\n")
    done = flashbed("compare", write(tmp_path / "c", ext2_failed), write(tmp_path / "d", ext2_failed))
    assert done.returncode == 0
    assert "3 repetitions failed in A and in B: nothing is known of them" in done.stdout


def test_what_was_not_run_is_no_part_of_a_set(flashbed: Flashbed, tmp_path: Path) -> None:
    def missing(row: Row) -> None:
        row.update(outcome="missing", metrics=dict.fromkeys(row["metrics"]))

    done = flashbed("compare", write(tmp_path / "a", missing), write(tmp_path / "b"))
    assert done.returncode == 6
    assert done.stderr.endswith("have no cell with a seed in common\n")


def test_nothing_in_common_ends_with_6(flashbed: Flashbed, tmp_path: Path) -> None:
    done = flashbed("compare", write(tmp_path / "a", seeds=[1]), write(tmp_path / "b", seeds=[2]))
    assert done.returncode == 6
    assert done.stderr.endswith("have no cell with a seed in common\n")


def test_folders_of_reports_are_compared_by_their_names(flashbed: Flashbed, tmp_path: Path) -> None:
    for place in ("a/one", "a/two", "b/two", "b/three"):
        write(tmp_path / place)
    done = flashbed("compare", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 0
    assert "one: only in A, not compared" in done.stdout
    assert "three: only in B, not compared" in done.stdout
    assert done.stdout.count("same bytes") == 1


def test_what_is_no_set_ends_with_2(flashbed: Flashbed, tmp_path: Path) -> None:
    done = flashbed("compare", tmp_path, tmp_path / "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no results.json in it" in done.stderr
