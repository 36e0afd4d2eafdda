# SPDX-License-Identifier: Apache-2.0
"""What the bounds of a life decide where the life itself is not known yet: "at most 0.44 years" refutes seven.

Knows the metrics of a life and their bounds, and no words but those for "at least" and "at most".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from flashbed.analysis.ratio import Numbers
from flashbed.analysis.results import Combination, Results
from flashbed.guest_output.wear import BOUNDED_BY
from flashbed.study.relation import Band

Which = Literal["at least", "at most"]


@dataclass(frozen=True)
class Bounds:
    """By seed, what a metric is at least and at most; an end that nobody knows is empty."""

    least: Numbers
    most: Numbers

    def deciding(self, value: float, band: Band) -> tuple[Which, Numbers] | None:
        """Return the bound that decides whether the metric, against `value`, lies in `band`; None if neither does."""
        low = min(self.least.values(), default=0.0) / value
        high = max(self.most.values()) / value if self.most else math.inf
        holds = band.holds(low, high)
        if holds is None:
            return None
        by_most = self.most and (band.low == 0 if holds else high < band.low)
        return ("at most", self.most) if by_most else ("at least", self.least)


def bounds(results: Results, metric: str, cell: Combination) -> Bounds | None:
    """Return the bounds of a metric in a cell; None if it has none."""
    if metric not in BOUNDED_BY:
        return None
    least, most = (results.numbers(name).get(cell, {}) for name in BOUNDED_BY[metric])
    return Bounds(least, most) if least or most else None
