# SPDX-License-Identifier: Apache-2.0
"""Medians, spreads and ratios, against numbers computed by hand."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from statistics import median

import pytest

from flashbed.analysis import (
    ratio,
    spread,
)
from flashbed.analysis.ratio import _median_probabilities, bootstrap_interval


def test_few_seeds_give_the_median_and_the_extremes() -> None:
    result = spread([3.0, 1.0, 2.5])
    assert (result.n, result.median, result.low, result.high) == (3, 2.5, 1.0, 3.0)
    assert not result.is_confidence


def test_one_seed_has_no_width() -> None:
    result = spread([7.0])
    assert (result.low, result.median, result.high) == (7.0, 7.0, 7.0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_the_bootstrap_of_a_median_is_that_of_all_resamples(n: int) -> None:
    values = [float(2**k) for k in range(n)]
    counted = Counter(median(resample) for resample in product(values, repeat=n))
    computed: dict[float, float] = {}
    for value, chance in _median_probabilities(values):
        computed[value] = computed.get(value, 0.0) + chance
    assert computed == pytest.approx({value: times / n**n for value, times in counted.items()})


def test_many_seeds_give_a_confidence_interval() -> None:
    # Nine seeds: the median of a resample is at most the second smallest with the chance P(Bin(9, 2/9) >= 5) = 0.0298,
    # and the smallest with P(Bin(9, 1/9) >= 5) = 0.0014; 2.5 % lies between, so the interval goes from 2nd to 8th.
    result = spread([5.0, 1.0, 9.0, 3.0, 7.0, 2.0, 8.0, 4.0, 6.0])
    assert (result.minimum, result.low, result.median, result.high, result.maximum) == (1.0, 2.0, 5.0, 8.0, 9.0)
    assert result.is_confidence
    assert bootstrap_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == (1.0, 5.0)  # P(Bin(5, 1/5) >= 3) = 0.058 > 2.5 %


def test_a_ratio_is_taken_seed_by_seed() -> None:
    result = ratio([({1: 10.0, 2: 30.0, 3: 8.0}, {1: 5.0, 2: 10.0, 4: 1.0})])  # 2 and 3; seeds 3 and 4 have no partner
    assert result is not None
    assert (result.n, result.low, result.median, result.high) == (2, 2.0, 2.5, 3.0)
    assert ratio([({1: 1.0}, {2: 1.0})]) is None


def test_the_ratio_of_several_pairs_is_their_geometric_mean_within_a_seed() -> None:
    # Seed 1: sqrt(2 * 8) = 4; seed 2: sqrt(4 * 1) = 2.
    result = ratio([({1: 2.0, 2: 4.0}, {1: 1.0, 2: 1.0}), ({1: 8.0, 2: 1.0}, {1: 1.0, 2: 1.0})])
    assert result is not None
    assert (result.low, result.high) == pytest.approx((2.0, 4.0))
    # No seed is in both pairs: sqrt(2 * 1) of their medians
    apart = ratio([({1: 2.0}, {1: 1.0}), ({2: 1.0}, {2: 1.0})])
    assert apart is not None
    assert (apart.n, apart.median) == pytest.approx((1, math.sqrt(2)))


def test_zeros_are_equal_and_below_all_else() -> None:
    assert ratio([({1: 0.0}, {1: 0.0})]) == spread([1.0])
    # When both were None, a cell of zeros counted as not measured, and the second best was recommended
    assert ratio([({1: 0.0}, {1: 1.0})]) == spread([0.0])
    assert ratio([({1: 1.0}, {1: 0.0})]) == spread([math.inf])
    assert ratio([({1: 1.0}, {1: -1.0})]) is None
