# SPDX-License-Identifier: Apache-2.0
"""The first lines of a comparison, and the limits that hold by default."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flashbed.comparing import presentation, regression_limits, result_set
from flashbed.comparing.compared_cells import Compared, compare_sets
from tests.support.facts import Facts
from tests.support.made_up_exports import Row, write


def of(a: Path, b: Path) -> Compared:
    return compare_sets(result_set.read_all(str(a))[""], result_set.read_all(str(b))[""])


def flushes_twice(row: Row) -> None:
    """Double the flushes, as a file system does that flushes before and after a write."""
    share = 0.18 if row["filesystem"] == "f2fs" else 0.11
    row["counted"]["host_flushes"] *= 2
    row["counted"]["cpu_ns"] = round(row["counted"]["cpu_ns"] * (1.118 + row["seed"] / 1e5))
    row["metrics"]["bandwidth"] *= 1 - share + row["seed"] / 1e5
    row["metrics"]["latency_mean_us"] *= 1 / (1 - share) + row["seed"] / 1e5


def test_throughput_and_latency_come_first_and_the_worst_cell_before_others(tmp_path: Path) -> None:
    comparison = of(write(tmp_path / "a"), write(tmp_path / "b", flushes_twice))
    limits_ = regression_limits.default([comparison])
    bad = list(regression_limits.broken(limits_, comparison))
    assert [(break_.metric, dict(break_.cell.place)["filesystem"]) for break_ in bad] == [
        ("bandwidth", "f2fs"),
        ("bandwidth", "ext2"),
        ("latency_mean_us", "f2fs"),
        ("latency_mean_us", "ext2"),
        ("cpu_time", "ext2"),
        ("cpu_time", "f2fs"),
    ]
    lines = list(presentation.lines(comparison, limits_, bad))
    at = lines.index("2 of 2 cells differ (6 repetitions)")
    assert lines[at + 1 : at + 5] == [
        "Bandwidth: worse in 2 of 2 cells, up to -18 % (f2fs)",
        "Mean latency: worse in 2 of 2 cells, up to +22 % (f2fs)",
        "CPU time: worse in 2 of 2 cells, up to +11.8 % (ext2)",
        Facts("2 cells begin with flushes", "CPU time +11.8 %", "flushes +100 %"),
    ]
    rows = [row.texts for row in presentation.differences(comparison)]
    assert [row[:2] for row in rows[:3]] == [("f2fs", "Bandwidth"), ("ext2", "Bandwidth"), ("f2fs", "Mean latency")]


def test_a_step_of_a_percentile_breaks_no_limit(tmp_path: Path) -> None:
    """fio counts in steps of 1.6 %, and a rebuild may move all seeds by one of them."""

    def p99(share: float) -> Callable[[Row], None]:
        return lambda row: row["metrics"].update(latency_p99_us=1000.0 * share)

    for share, count in ((1.016, 0), (1.032, 2)):
        comparison = of(write(tmp_path / f"a{share}", p99(1.0)), write(tmp_path / f"b{share}", p99(share)))
        assert len(list(regression_limits.broken(regression_limits.default([comparison]), comparison))) == count


def test_a_verdict_that_stays_stands_behind_the_figures_if_only_its_reason_differs(tmp_path: Path) -> None:
    """A rate that is not steady falls by other digits as soon as anything differs; that is nothing to begin with."""

    def slower(share: float) -> Callable[[Row], None]:
        def change(row: Row) -> None:
            row["steady"] = f"not steady: falls by {40 * share:.0f} %"
            row["fresh"] = "" if share > 1 and row["filesystem"] == "f2fs" else f"fresh: {4 * share:.0f} % of it"
            row["metrics"]["bandwidth"] /= share

        return change

    comparison = of(write(tmp_path / "a", slower(1.0)), write(tmp_path / "b", slower(1.5)))
    rows = [row.texts[:2] for row in presentation.differences(comparison)]
    assert [(cell, text.partition(":")[0]) for cell, text in rows] == [
        ("f2fs", "fresh"),
        ("f2fs", "Bandwidth"),
        ("ext2", "Bandwidth"),
        ("ext2", "steady"),
        ("ext2", "fresh"),
        ("f2fs", "steady"),
    ]
    assert not any(cell.is_same for cell in comparison.cells)
