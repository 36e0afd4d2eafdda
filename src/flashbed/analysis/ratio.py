# SPDX-License-Identifier: Apache-2.0
"""Judge a difference: the spread of a metric over the seeds of a cell, and of the ratio of two cells, seed by seed.

Cells with the same seed get the same placement, pause and random numbers. So they are compared in pairs: what chance
does to both cancels in their ratio. Nothing here draws random numbers, so the same values always give the same answer.
Knows numbers only.

Reports and `flashbed compare` both judge here. Both ask whether the seeds agree: whether the whole interval lies on one
side. A report chooses between stacks that are known to differ, so beyond that only the size counts (is_ahead). A
comparison of two builds asks whether they differ at all, in hundreds of figures at once and by less than 1 %, so beyond
that it must rule out chance (chance_of). Of n equal pairs of seeds with n < 6, all lie on one side once in 2 ** (n - 1)
times, which is too often. docs/compare.md tells users.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from statistics import fmean, median, stdev
from typing import NamedTuple

from flashbed.study.relation import CLEAR

INTERVAL_SEEDS = 5
"""From this many seeds on, the interval is a 95 % confidence interval of the median; with fewer, it is the full range.
"""


WIDE_FACTOR = 1.25
"""If the highest of the seeds is at least this many times the lowest, a median alone hides what chance does, and both
ends are shown too.
"""


@dataclass(frozen=True)
class Spread:
    """The distribution of a metric over the seeds of a cell. [low, high] is the interval that comparisons and error
    bars use.
    """

    n: int
    median: float
    minimum: float
    maximum: float
    low: float
    high: float

    @property
    def is_confidence(self) -> bool:
        """True if the interval is a confidence interval, and not simply the smallest and the largest value."""
        return self.n >= INTERVAL_SEEDS

    @property
    def is_wide(self) -> bool:
        """True if the seeds lie so far apart that the median alone misleads (WIDE_FACTOR)."""
        return self.maximum >= WIDE_FACTOR * self.minimum and self.maximum > self.minimum


def spread(values: Sequence[float]) -> Spread:
    """Return median, extremes and interval of at least one finite value."""
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    if len(ordered) >= INTERVAL_SEEDS:
        low, high = bootstrap_interval(ordered)
    return Spread(len(ordered), median(ordered), ordered[0], ordered[-1], low, high)


def bootstrap_interval(ordered: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the median of sorted values.

    The bootstrap distribution of a median can be computed instead of drawn (Efron 1979, section 3), so there is no
    number of resamples to choose and no generator to seed.
    """
    tail = (1 - confidence) / 2
    distribution = sorted(_median_probabilities(ordered))
    return _quantile(distribution, tail), _quantile(list(reversed(distribution)), tail)


def _quantile(distribution: Sequence[tuple[float, float]], probability: float) -> float:
    """Return the first value, in the order given, at which the summed probability exceeds `probability`."""
    total = 0.0
    for value, weight in distribution:
        total += weight
        if total > probability:
            return value
    return distribution[-1][0]


def _median_probabilities(ordered: Sequence[float]) -> list[tuple[float, float]]:
    """Return each value that the median of a resample can take, with its probability."""
    return [((ordered[i] + ordered[j]) / 2, probability) for i, j, probability in _median_places(len(ordered))]


@lru_cache(maxsize=16)
def _median_places(n: int) -> list[tuple[int, int, float]]:
    """Return the pairs of places i <= j, among `n` sorted values, between which the median of a resample can lie
    halfway, each with its probability. They take some n * n steps, and are the same for every cell.
    """
    middle = (n + 1) // 2
    # at_most[k]: the probability that the middle draw is among the k smallest values
    at_most = [fsum(_binomial(n, j, k / n) for j in range(middle, n + 1)) for k in range(n + 1)]
    lower_middle = [at_most[k + 1] - at_most[k] for k in range(n)]
    if n % 2:
        return [(k, k, probability) for k, probability in enumerate(lower_middle)]

    # An even number of draws: the median lies halfway between draws n/2 and n/2 + 1
    places = []
    for i in range(n):
        apart = 0.0
        for j in range(i + 1, n):
            lower = ((i + 1) / n) ** middle - (i / n) ** middle
            upper = ((n - j) / n) ** middle - ((n - j - 1) / n) ** middle
            chance = math.comb(n, middle) * lower * upper
            apart += chance
            places.append((i, j, chance))
        places.append((i, i, lower_middle[i] - apart))
    return places


def _binomial(n: int, successes: int, chance: float) -> float:
    return float(math.comb(n, successes) * chance**successes * (1 - chance) ** (n - successes))


CLEAR_FACTOR = CLEAR
"""A smaller lead counts as none: nobody should choose by it, and with a single seed nothing else guards against chance.
"""

Numbers = Mapping[int, float]
"""A metric of one cell, by seed."""


def ratio(pairs: Sequence[tuple[Numbers, Numbers]]) -> Spread | None:
    """Return the spread over the seeds of left / right; of several pairs, of the geometric mean of their ratios.

    Zero is a number like others: see quotient(). Return None if a pair has no seed in common, or a number below zero,
    which has no ratio.
    """
    ratios = [_by_seed(left, right) for left, right in pairs]
    return mean_spread(ratios) if ratios and all(ratios) else None


def mean_by_seed(rows: Sequence[Numbers]) -> Numbers:
    """Return, by seed, the arithmetic mean of several rows, such as of times; only of the seeds that all rows have."""
    return {seed: fmean(row[seed] for row in rows) for seed in _common_seeds(rows)}


def mean_spread(rows: Sequence[Numbers]) -> Spread:
    """Return the spread over the seeds of the geometric mean of several rows of numbers, none of them empty or below
    zero.

    If no seed is common to all, the mean is taken of the ends of their intervals, which is never too narrow.
    """
    shared = _common_seeds(rows)
    if shared:
        return spread([geometric_mean([row[seed] for row in rows]) for seed in shared])
    single = [spread(list(row.values())) for row in rows]
    ends = ("median", "minimum", "maximum", "low", "high")
    return Spread(min(s.n for s in single), *(geometric_mean([getattr(s, end) for s in single]) for end in ends))


def _common_seeds(rows: Sequence[Numbers]) -> list[int]:
    return [seed for seed in rows[0] if all(seed in row for row in rows)]


def _by_seed(left: Numbers, right: Numbers) -> dict[int, float]:
    """Return left / right by seed; empty if a number is below zero."""
    shared = [(seed, left[seed], right[seed]) for seed in left if seed in right]
    if any(above < 0 or below < 0 for _, above, below in shared):
        return {}
    return {seed: quotient(above, below) for seed, above, below in shared}


def quotient(above: float, below: float) -> float:
    """Return `above` / `below`, neither below zero. Any other number is infinitely many times zero; two zeros are
    equal.
    """
    if below:
        return above / below
    return math.inf if above else 1.0


def apart(times: float) -> float:
    """Return a ratio, or its inverse if that is larger."""
    return max(times, quotient(1.0, times))


def is_above(ratios: Spread) -> bool:
    """True if left is above right as far as the seeds tell: the whole interval says so."""
    return ratios.low > 1


def is_ahead(ratios: Spread | None) -> bool:
    """True if left is above right by enough to matter, as far as the seeds tell."""
    return ratios is not None and is_above(ratios) and ratios.median >= CLEAR_FACTOR


def seeds_agree(ratios: Spread) -> bool:
    """True if the whole interval is above 1, or below."""
    return is_above(ratios) or is_above(inverse(ratios))


SIGNIFICANCE_LEVEL = 0.01
"""A difference that chance shows at least this often is no difference between two builds."""


def chance_of(moves: Sequence[float]) -> float | None:
    """Return how often chance alone would move the seeds so evenly to one side: Student's test of pairs (1908), of the
    logarithms of their ratios. Return None for fewer than two seeds, which say nothing about chance.
    """
    if len(moves) < 2:
        return None
    deviation = stdev(moves)
    if deviation == 0:
        return 0.0
    return two_sided(fmean(moves) / (deviation / math.sqrt(len(moves))), len(moves) - 1)


def two_sided(t: float, freedom: int) -> float:
    """Return the probability that Student's t with `freedom` degrees of freedom is as far from zero as `t` or farther
    (Abramowitz and Stegun, 26.7.3 and 26.7.4).
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term, total = (cosine, 0.0) if freedom % 2 else (1.0, 0.0)
    for power in range(3 if freedom % 2 else 2, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (power - 1) / power
    inside = 2 / math.pi * (angle + sine * total) if freedom % 2 else sine * total
    return max(0.0, 1 - inside)


def inverse(ratios: Spread) -> Spread:
    """Return the spread of right / left."""
    ends = (ratios.median, ratios.maximum, ratios.minimum, ratios.high, ratios.low)
    return Spread(ratios.n, *(quotient(1.0, end) for end in ends))


def geometric_mean(numbers: Sequence[float]) -> float:
    """Return the geometric mean of numbers not below zero; a single number is returned unchanged. A zero makes the mean
    zero, infinity makes it infinite, and one of each cancel.
    """
    if len(numbers) == 1:
        return numbers[0]
    zeros, endless = (list(numbers).count(end) for end in (0.0, math.inf))
    if zeros != endless:
        return 0.0 if zeros > endless else math.inf
    logarithms = [math.log(number) for number in numbers if 0 < number < math.inf]
    return math.exp(math.fsum(logarithms) / len(numbers))


PROPORTION_CONFIDENCE = 0.95

_HALVINGS = 60
"""Halvings of the interval from 0 to 1; each is exact, so the bounds are the same on any host to 1e-15."""


class Proportion(NamedTuple):
    """The bounds of a probability, from how often something happened in independent trials."""

    low: float
    high: float


def proportion(happened: int, trials: int, confidence: float = PROPORTION_CONFIDENCE) -> Proportion:
    """Return the interval of Clopper and Pearson (1934). Its coverage is at least `confidence`, whatever the
    probability.
    """
    tail = (1 - confidence) / 2
    low = 0.0 if happened == 0 else _root(lambda p: _at_least(happened, trials, p) < tail)
    high = 1.0 if happened == trials else _root(lambda p: _at_least(trials - happened, trials, 1 - p) >= tail)
    return Proportion(low, high)


def _root(is_below: Callable[[float], bool]) -> float:
    """Return the probability from which on `is_below` is false."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _at_least(happened: int, trials: int, chance: float) -> float:
    """Return the probability that it happens at least so often. Logarithms keep thousands of trials in range."""
    if chance in (0.0, 1.0):
        return chance
    log_of, log_not, whole = math.log(chance), math.log1p(-chance), math.lgamma(trials + 1)
    return math.fsum(
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * log_of + (trials - k) * log_not)
        for k in range(happened, trials + 1)
    )
