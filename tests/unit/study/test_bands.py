# SPDX-License-Identifier: Apache-2.0
"""The bands of a claim's words, worked out by hand."""

from __future__ import annotations

import math

import pytest

from flashbed.study.relation import Band, band


@pytest.mark.parametrize(
    ("relation", "by", "low", "high"),
    [
        (">", "", 1.01, math.inf),
        ("<", "", 0.0, 1 / 1.01),
        (">>", "", 2.0, math.inf),
        ("<<", "", 0.0, 0.5),
        ("=", "", 1 / 1.1, 1.1),
        (">", "at least 8 %", 1.08, math.inf),
        ("<", "at least 8 %", 0.0, 0.92),
        (">", "3 to 4 times", 3.0, 4.0),
        ("<", "3 to 4 times", 1 / 4, 1 / 3),
        ("<", "5 to 10%", 0.9, 0.95),
        (">", "at most 2 times", 1.01, 2.0),
        ("<", "at most 20 %", 0.8, 1 / 1.01),
        ("=", "within 25 %", 0.8, 1.25),
        ("=", "within 0 %", 1.0, 1.0),
        ("flat", "within 2 times", 0.5, 2.0),
        ("rises", "at least 1.5 times", 1.5, math.inf),
        # "About" is a factor of 1.1 around the number: 6 % is 5.4545 to 6.6 %, four times is 3.6364 to 4.4 times.
        ("<", "about 6 %", 1 - 0.066, 1 - 0.06 / 1.1),
        (">", "about 6 %", 1 + 0.06 / 1.1, 1.066),
        (">", "about 4 times", 4 / 1.1, 4.4),
        ("<", "about 4 times", 1 / 4.4, 1.1 / 4),
        ("=", "about", 1 / 1.1, 1.1),
        ("=", "no difference", 1 / 1.01, 1.01),
        ("flat", "no large difference", 0.5, 2.0),
        (">=", "", 1 / 1.01, math.inf),
        ("<=", "", 0.0, 1.01),
        (">=", "about", 1 / 1.1, math.inf),
    ],
)
def test_words_become_bands(relation: str, by: str, low: float, high: float) -> None:
    actual = band(relation, by)
    assert (actual.low, actual.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("relation", "by", "message"),
    [
        (">", "8", 'must be such as "at least 8 %"'),
        (">", "8 %", 'must be such as "at least 8 %"'),
        (">", "at least 3 to 4 times", 'must be such as "at least 8 %"'),
        (">", "__import__('os')", 'must be such as "at least 8 %"'),
        (">", "within 8 %", '"within" goes with "=" and "flat"'),
        ("=", "at least 8 %", '"within" goes with "=" and "flat"'),
        (">", "at least 0.5 times", "must be 1 or more"),
        ("<", "at least 100 %", "nothing is 100 % below"),
        (">", "at most 0.5 %", "less than 1% counts as equal"),
        (">", "about 3 to 4 times", 'must be such as "at least 8 %"'),  # a range states its own width
        (">", "4 to 3 times", 'write "3 to 4 times"'),
        (">", "3 to 3 %", "goes from the smaller number to the larger"),
        ("=", "about 6 %", '"within" goes with "=" and "flat"'),
        (">", "no difference", '"no difference" goes only with "=" and "flat"'),
        (">=", "at least 8 %", '">=" takes no number'),
    ],
)
def test_other_words_are_refused(relation: str, by: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        band(relation, by)


def test_an_interval_may_lie_in_a_band_outside_or_across_an_end() -> None:
    two_to_three = Band(2.0, 3.0)
    assert [two_to_three.holds(2.0, 3.0), two_to_three.holds(1.0, 1.9), two_to_three.holds(3.1, 4.0)] == [
        True,
        False,
        False,
    ]
    assert [two_to_three.holds(1.9, 2.5), two_to_three.holds(2.5, 3.1), two_to_three.holds(1.0, 9.0)] == [
        None,
        None,
        None,
    ]
