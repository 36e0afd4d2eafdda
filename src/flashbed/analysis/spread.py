# SPDX-License-Identifier: Apache-2.0
"""The middle and the spread of one metric over the seeds of one cell.

Knows numbers only: no studies, no metrics, no tables. Nothing here draws random numbers, so the same values always give
the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median

INTERVAL_SEEDS = 5
"""From this many seeds on the interval is a 95 % confidence interval of the median; below, it is all that was seen."""


WIDE_FACTOR = 1.25
"""Where the highest of the seeds is so many times the lowest or more, a middle alone hides what chance does: whoever
shows it shows both ends too.
"""


@dataclass(frozen=True)
class Spread:
    """What the seeds of a cell say about a metric: [low, high] is the interval that comparisons and error bars use."""

    n: int
    median: float
    minimum: float
    maximum: float
    low: float
    high: float

    @property
    def is_confidence(self) -> bool:
        """Whether the interval is a confidence interval, and not simply the smallest and the largest value."""
        return self.n >= INTERVAL_SEEDS

    @property
    def is_wide(self) -> bool:
        """Whether the seeds lie so far apart that a middle alone misleads (WIDE_FACTOR)."""
        return self.maximum >= WIDE_FACTOR * self.minimum and self.maximum > self.minimum


def spread(values: Sequence[float]) -> Spread:
    """Median, extremes and interval of at least one finite value."""
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    if len(ordered) >= INTERVAL_SEEDS:
        low, high = bootstrap_interval(ordered)
    return Spread(len(ordered), median(ordered), ordered[0], ordered[-1], low, high)


def bootstrap_interval(ordered: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """The percentile bootstrap interval of the median of sorted values.

    The bootstrap distribution of a median can be computed instead of drawn (Efron 1979, section 3), so there is no
    number of resamples to choose and no generator to seed.
    """
    tail = (1 - confidence) / 2
    distribution = sorted(_median_probabilities(ordered))
    return _quantile(distribution, tail), _quantile(list(reversed(distribution)), tail)


def _quantile(distribution: Sequence[tuple[float, float]], probability: float) -> float:
    """The first value, in the order given, at which the summed probability exceeds what is asked."""
    total = 0.0
    for value, weight in distribution:
        total += weight
        if total > probability:
            return value
    return distribution[-1][0]


def _median_probabilities(ordered: Sequence[float]) -> list[tuple[float, float]]:
    """Each value that the median of a resample can take, with its probability."""
    n = len(ordered)
    middle = (n + 1) // 2
    # at_most[k]: the chance that the middle draw is among the k smallest values.
    at_most = [fsum(_binomial(n, j, k / n) for j in range(middle, n + 1)) for k in range(n + 1)]
    lower_middle = [at_most[k + 1] - at_most[k] for k in range(n)]
    if n % 2:
        return list(zip(ordered, lower_middle, strict=True))

    # An even number of draws: the median lies halfway between draws n/2 and n/2 + 1, at values i <= j.
    pairs = []
    for i in range(n):
        apart = 0.0
        for j in range(i + 1, n):
            lower = ((i + 1) / n) ** middle - (i / n) ** middle
            upper = ((n - j) / n) ** middle - ((n - j - 1) / n) ** middle
            chance = math.comb(n, middle) * lower * upper
            apart += chance
            pairs.append(((ordered[i] + ordered[j]) / 2, chance))
        pairs.append((ordered[i], lower_middle[i] - apart))
    return pairs


def _binomial(n: int, successes: int, chance: float) -> float:
    return float(math.comb(n, successes) * chance**successes * (1 - chance) ** (n - successes))
