# SPDX-License-Identifier: Apache-2.0
"""Exact intervals of probabilities, against closed forms and published values."""

from __future__ import annotations

import math

import pytest

from flashbed.analysis.ratio import proportion


@pytest.mark.parametrize("trials", [1, 30, 100, 1000, 10_000])
def test_nothing_happened(trials: int) -> None:
    low, high = proportion(0, trials)
    assert low == 0
    assert math.isclose(high, 1 - 0.025 ** (1 / trials), rel_tol=1e-6)
    assert proportion(trials, trials) == pytest.approx((1 - high, 1))


@pytest.mark.parametrize(
    ("happened", "trials", "low", "high"),
    [
        # Newcombe 1998 (Statistics in Medicine 17, 857-872), table I, method 5
        (81, 263, 0.2527, 0.3676),
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0000, 0.1684),
        (1, 29, 0.0009, 0.1776),
    ],
)
def test_published_intervals(happened: int, trials: int, low: float, high: float) -> None:
    assert proportion(happened, trials) == pytest.approx((low, high), abs=5e-5)
