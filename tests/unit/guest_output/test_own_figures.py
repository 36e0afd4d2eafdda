# SPDX-License-Identifier: Apache-2.0
"""The figures that a program reports of itself."""

from __future__ import annotations

import pytest

from flashbed.guest_output import own_figures
from flashbed.result.metrics import METRICS, Metric


def test_each_line_is_a_metric() -> None:
    out = {"figures": b"rows_per_s 812.5\n\nretries 0\n lost  -1e3 \n"}
    assert own_figures.reported_figures(out) == {"own.rows_per_s": 812.5, "own.retries": 0.0, "own.lost": -1000.0}
    assert own_figures.reported_figures({}) == {}


@pytest.mark.parametrize(
    "text", ["rows", "rows much", "rows nan", "rows inf", "Rows 1", "1rows 1", "rows_per_s=3", "rows 1 2", "r\x1b[2J 1"]
)
def test_anything_else_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^figures:2: .* is no figure"):
        own_figures.reported_figures({"figures": f"good 1\n{text}\n".encode()})


def test_a_name_is_there_once_and_there_are_not_too_many() -> None:
    with pytest.raises(ValueError, match="figures:2: rows is there twice"):
        own_figures.reported_figures({"figures": b"rows 1\nrows 2\n"})
    with pytest.raises(ValueError, match="figures: has more than 200 figures"):
        own_figures.reported_figures({"figures": b"".join(b"f%d 1\n" % number for number in range(201))})


def test_the_end_of_a_name_says_unit_and_direction() -> None:
    assert METRICS["own.row_errors"] == Metric("own.row_errors", "Row errors", "", "lower")
    assert METRICS["own.rows_per_s"] == Metric("own.rows_per_s", "Rate of rows", "per s", "higher")
    assert METRICS["own.first_start_ms"] == Metric("own.first_start_ms", "First start", "ms", "lower")
    assert METRICS["own.rows"] == Metric("own.rows", "Rows", "", None)
    assert [name in METRICS for name in ("own.rows", "own.", "own.Rows", "own", "rows", "runtime_s")] == [
        *(True, False, False, False, False, True)
    ]
    assert "own.rows" not in list(METRICS)
