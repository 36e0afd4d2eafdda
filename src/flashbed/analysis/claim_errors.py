# SPDX-License-Identifier: Apache-2.0
"""How much of the models' errors is left in a ratio of figures.

Each source of error is one unknown factor, the same in every cell that it decides: a medium under one kind of load, or
a board's CPU. In a ratio it cancels as far as it stands on both sides; what is left of several sources is combined as
independent errors are, by the root of the sum of squares of their logarithms. Knows no results and no profiles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from flashbed.analysis.results import Combination
from flashbed.common.metrics import METRICS

SAME_LOAD = 1.03
"""What is left where all else cancels: another build of the same kernel moves a figure by up to 3 % (docs/accuracy.md,
"In the guest").
"""

RATES, TIMES = ("MiB/s", "1/s"), ("s", "us")
"""Units of the metrics that an error of speed is in."""

NO_LOADS = ("mount_", "boot_", "service_", "warm_up_", "late_", "offered_")
"""How times and rates begin that are not the speed of a load."""


@dataclass(frozen=True)
class Source:
    """A model that may be off by `factor`: the rates of a medium under one kind of load, or of a board's CPU."""

    of: str
    """The profile of the medium or the board."""
    load: str
    """The kind of load, as model_error.toml names it; empty for a CPU."""
    factor: float
    is_too_fast: bool = False
    """The error runs one way: the real rate is lower than the model's, by up to `factor`."""


SourceOf = Callable[[Combination, str], Source | None]
"""Name the source of error of a cell's metric; None if nothing is known of it."""


@dataclass(frozen=True)
class ErrorLeft:
    """What the errors leave open of a ratio: the real one is at most `below` times smaller or `above` times larger."""

    below: float
    above: float
    sources: tuple[Source, ...]
    """Those that do not cancel; if there are none, SAME_LOAD is left."""

    def widened(self, low: float, high: float) -> tuple[float, float]:
        """Return the interval in which the real ratio may lie."""
        return low / self.below, high * self.above


def is_speed(metric: str) -> bool:
    """True if a metric is a rate or a time of a load: what counts requests, bytes or erases has no error of speed."""
    known = METRICS.get(metric)
    return known is not None and known.unit in (*RATES, *TIMES) and not metric.startswith(NO_LOADS)


def left_over(exponents: Iterable[tuple[Combination, float]], metric: str, source_of: SourceOf) -> ErrorLeft | None:
    """Return the error left in a product of cells' figures, each with its exponent; None if the metric has none."""
    if not is_speed(metric):
        return None
    rate = -1.0 if METRICS[metric].unit in TIMES else 1.0
    net: dict[Source, float] = {}
    for cell, exponent in exponents:
        source = source_of(cell, metric)
        if source is not None:
            net[source] = net.get(source, 0.0) + rate * exponent
    left = {source: exponent for source, exponent in net.items() if abs(exponent) > 1e-9}
    squares = {source: (exponent * math.log(source.factor)) ** 2 for source, exponent in left.items()}
    floor = math.log(SAME_LOAD) ** 2
    down = [square for source, square in squares.items() if not source.is_too_fast or left[source] > 0]
    up = [square for source, square in squares.items() if not source.is_too_fast or left[source] < 0]
    return ErrorLeft(
        below=math.exp(math.sqrt(math.fsum([floor, *down]))),
        above=math.exp(math.sqrt(math.fsum([floor, *up]))),
        sources=tuple(left),
    )
