# SPDX-License-Identifier: Apache-2.0
"""The lines of a comparison."""

from __future__ import annotations

from pathlib import Path

from flashbed.comparing import presentation, regression_limits, result_set
from flashbed.comparing.compared_cells import Compared, compare_sets
from tests.support.facts import Facts
from tests.support.made_up_exports import Row, write


def of(a: Path, b: Path) -> Compared:
    return compare_sets(result_set.read_all(str(a))[""], result_set.read_all(str(b))[""])


def _lines(comparison: Compared) -> list[str]:
    limits_ = regression_limits.default([comparison])
    broken = list(regression_limits.broken(limits_, comparison))
    differences = presentation.differences(comparison, [limit.metric for limit in limits_])
    return [*presentation.lines(comparison, limits_, broken), *(difference.line for difference in differences)]


def test_what_is_told_otherwise_is_told_as_each_side_says_it(tmp_path: Path) -> None:
    def other(row: Row) -> None:
        row |= {"limit": "bus", "check": "e2fsck: ends with 4\nblock 7"}
        row["counted"]["host_written_bytes"] += 4096

    sets = write(tmp_path / "a", filesystems=["ext2"]), write(tmp_path / "b", other, filesystems=["ext2"])
    assert _lines(of(*sets))[2:] == [
        "1 of 1 cell differs (3 repetitions)",
        Facts("1 cell begins with bytes", "bytes +0.909 %"),
        Facts("bandwidth 0.25 %", "latency_mean_us 0.25 %", "cpu_time 0.25 %"),
        "No cell differs in a figure that has a limit",
        Facts(
            "ext2: checker", "A says clean", "B says e2fsck: ends with 4", "block 7", "seeds 1, 2, 3", "bytes +0.909 %"
        ),
        Facts("ext2: limited by", "A says medium", "B says bus", "seeds 1, 2, 3", "bytes +0.909 %"),
    ]


def test_one_is_one_and_two_are_two(tmp_path: Path) -> None:
    def fails(row: Row) -> None:
        row |= {"outcome": "failed", "metrics": dict.fromkeys(row["metrics"])}

    def slow(row: Row) -> None:
        row["counted"]["cpu_ns"] += 10_000

    one, two = write(tmp_path / "a", seeds=[1], filesystems=["ext2"]), write(tmp_path / "b", seeds=[1])
    assert _lines(of(one, one))[2:] == ["same bytes: 1 cell, 1 repetition"]
    assert _lines(of(one, two))[2:] == [
        "Not in A, and not compared: 1 repetition of B",
        "same bytes: 1 cell, 1 repetition",
    ]
    worst = of(one, write(tmp_path / "c", fails, seeds=[1], filesystems=["ext2"]))
    assert _lines(worst)[-1] == "  ext2: outcome: A says measured, B says failed (seed 1)"
    lines = _lines(of(two, write(tmp_path / "d", slow, seeds=[1])))
    assert lines[2] == "2 of 2 cells differ (2 repetitions)"
    assert lines[6] == Facts("2 moved", "2 of them beyond", "by chance, 0.02")
    assert Facts("CPU time +1 %", "1 seed 0 % apart", "one seed", "code +1 %").within(lines[7])
