# SPDX-License-Identifier: Apache-2.0
"""The table of results in the analysis, and numbers and names as a reader sees them."""

from __future__ import annotations

import math

import pytest

from flashbed.analysis import Words, flows
from flashbed.analysis.words import factor, metric_of, number, scale_of
from tests.support.tabled import results_of
from tests.unit.analysis.analysed import AXES, row


def test_rows_come_in_the_order_of_the_study_whatever_order_they_had() -> None:
    rows = [row(f, "read", r, s, bandwidth=1.0) for f in "cab" for r in ("64k", "4k") for s in (2, 1)]
    results = results_of(AXES, rows)
    assert [(r.combination[0], r.combination[2], r.seed) for r in results.repetitions][:4] == [
        ("a", "4k", 1),
        ("a", "4k", 2),
        ("a", "64k", 1),
        ("a", "64k", 2),
    ]
    assert results == results_of(AXES, reversed(rows))


def test_what_was_planned_and_never_ran_is_missing() -> None:
    planned = [(("a", "read", "4k"), 1), (("a", "read", "4k"), 2)]
    results = results_of(AXES, [row("a", "read", "4k", 1, bandwidth=1.0)], planned)
    assert results.outcomes() == {"measured": 1, "missing": 1}
    assert [(r.seed, r.outcome) for r in results.not_measured()] == [(2, "missing")]


def test_failed_repetitions_are_counted_and_give_no_numbers() -> None:
    rows = [
        row("a", "read", "4k", 1, bandwidth=5.0),
        row("a", "read", "4k", 2, outcome="failed", reason="mkfs", bandwidth=99.0),
        row("a", "read", "4k", 3, outcome="timed out", bandwidth=math.nan),
        row("a", "read", "64k", 1, bandwidth=math.nan),
    ]
    results = results_of(AXES, rows)
    assert results.outcomes() == {"measured": 2, "failed": 1, "timed out": 1}
    assert {cell[2]: s.n for cell, s in results.spreads("bandwidth").items()} == {"4k": 1}


def test_a_nan_of_pandas_is_an_absent_value() -> None:
    results = results_of(AXES, [row("a", "read", "4k", 1, reason=math.nan, check=None, bandwidth=1.0)])
    assert (results.repetitions[0].reason, results.repetitions[0].check) == ("", None)
    assert results.metrics == ["bandwidth"]


def test_writes_that_stay_in_memory_are_found() -> None:
    def bytes_of(requested: float, read: float, written: float) -> dict[str, float]:
        return {"requested_bytes": requested, "medium_read_bytes": read, "medium_written_bytes": written}

    rows = [
        row("a", "randwrite", "4k", 1, **bytes_of(1000.0, 2000.0, 100.0)),  # what it reads does not count
        row("a", "randwrite", "4k", 2, **bytes_of(1000.0, 0.0, 300.0)),
        row("b", "randwrite", "4k", 1, **bytes_of(1000.0, 0.0, 1100.0)),
        row("a", "read", "4k", 1, **bytes_of(1000.0, 10.0, 5000.0)),
        row("b", "read", "4k", 1, bandwidth=1.0),  # tells no bytes
    ]
    by_cell = {flow.combination[:2]: flow for flow in flows(results_of(AXES, rows), {})}
    assert by_cell["a", "randwrite"].reached == pytest.approx(0.2)
    assert {place: flow.swallowed for place, flow in by_cell.items()} == {
        ("a", "randwrite"): True,
        ("b", "randwrite"): False,
        ("a", "read"): True,
    }


def test_of_a_tool_with_phases_their_own_bytes_tell_what_reached_the_medium() -> None:
    between = {"requested_bytes": 1000.0, "medium_read_bytes": 4000.0, "medium_written_bytes": 3000.0}
    rows = [row("a", "write", "4k", seed, reached_percent=share, **between) for seed, share in ((1, 6.0), (2, 8.0))]
    [flow] = flows(results_of(AXES, rows), {})
    assert flow.reached == pytest.approx(0.07)
    assert flow.swallowed


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0123, "0.0123"), (12.34, "12.3"), (9.999, "10.0"), (999.96, "1,000"), (123456.0, "123,000"), (0.0, "0")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.9, "0.90"), (1.04, "1.04"), (1.996, "2.0"), (3.14, "3.1"), (12.4, "12"), (1234.0, "1,200")]
)
def test_factors_have_the_digits_that_a_reader_can_use(ratio: float, text: str) -> None:
    assert factor(ratio) == text


def test_units_follow_the_largest_value() -> None:
    assert scale_of(metric_of("latency_p99_us"), [120.0, 90.0]).figure(120.0) == "120 µs"
    assert scale_of(metric_of("latency_p99_us"), [120.0, 12_000.0]).figure(120.0) == "0.120 ms"
    assert scale_of(metric_of("medium_written_bytes"), [20.0 * 2**20]).figure(2.0**20) == "1.00 MiB"
    assert scale_of(metric_of("bandwidth"), []).figure(3.0) == "3.00 MiB/s"


def test_names_are_short_where_that_is_enough() -> None:
    words = Words({"filesystem": ("ext2:block=1k", "ext2:block=4k", "f2fs:mode=lfs")}, {"medium": {"stick": "A stick"}})
    assert words.value("filesystem", "f2fs:mode=lfs") == "f2fs"
    assert words.value("filesystem", "ext2:block=4k") == "ext2:block=4k"
    assert words.value("medium", "stick") == "A stick"
    assert words.places({"pattern": "randread", "file": "10M"}) == "random read, file size 10M"
