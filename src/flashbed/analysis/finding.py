# SPDX-License-Identifier: Apache-2.0
"""A finding: the ratio of two sides that a claim compares, the band that the claim asks for, and the verdict.

The interval of the ratio lies in the band, or outside, or across one of its ends; then the seeds do not decide. If the
models' error could move the interval across an end, the models do not decide. Must not know how a claim is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

from flashbed.analysis.model_error import ErrorLeft
from flashbed.analysis.ratio import Numbers, Spread, spread
from flashbed.guest_output.assessment import Status
from flashbed.result.columns import Combination
from flashbed.study.format import Printed
from flashbed.study.relation import Band, Verdict

Case = tuple[tuple[str, str], ...]
"""Axis and value of all axes that the claim does not compare and in which its cells differ."""

Bound = Literal["at least", "at most"]


@dataclass(frozen=True)
class Bounds:
    """The lower and the upper bound of a metric, by seed; a bound that nobody knows is empty."""

    least: Numbers
    most: Numbers

    def deciding(self, value: float, wanted: Band) -> tuple[Bound, Numbers] | None:
        """Return the bound that decides whether the metric, against `value`, lies in `wanted`; None if neither does."""
        low = min(self.least.values(), default=0.0) / value
        high = max(self.most.values()) / value if self.most else math.inf
        holds = wanted.holds(low, high)
        if holds is None:
            return None
        by_most = self.most and (wanted.low == 0 if holds else high < wanted.low)
        return ("at most", self.most) if by_most else ("at least", self.least)


class NoRatio(Enum):
    """Why two sides with numbers have no ratio."""

    BELOW_ZERO = auto()
    NO_COMMON_SEED = auto()
    ZERO_IN_GAP = auto()
    """A side is a ratio of which one number is 0: it has no size that could change."""


@dataclass(frozen=True)
class NotMeasured:
    """How a repetition of a side ended, which has no figures for it."""

    outcome: Status
    reason: str


@dataclass(frozen=True)
class NoMetric:
    """A side was measured, and lacks the metric."""

    metric: str


@dataclass(frozen=True)
class OpenBounds:
    """Of a side only bounds of the metric are known, and they do not decide."""

    metric: str
    bounds: Bounds


MissingRatio = NoRatio | NotMeasured | NoMetric | OpenBounds
"""Why a comparison has no ratio."""


@dataclass(frozen=True)
class Side:
    """One side of a ratio: a cell, a mean of several cells, a ratio of two, or a fixed number."""

    cell: Combination | None
    """None unless the side is a single cell."""
    coordinates: tuple[tuple[str, str], ...]
    """Axis and value that distinguish it from the other side; empty for a fixed number."""
    numbers: Numbers
    printed: Printed | None = None
    """The paper's figure for it."""
    parts: tuple[tuple[Side, float], ...] = ()
    """The sides that it is made of, each with its exponent: the sides of a mean, or 1 and -1 in a ratio of two."""
    bound: Bound | None = None
    """Set if the numbers are a bound of the metric and not the metric itself."""

    @property
    def exponents(self) -> Iterator[tuple[Combination, float]]:
        """Yield the cells that it rests on, each with its exponent: 0.5 in a geometric mean of two."""
        if self.cell is not None:
            yield self.cell, 1.0
        for part, exponent in self.parts:
            yield from ((cell, exponent * inner) for cell, inner in part.exponents)

    @property
    def spread(self) -> Spread | None:
        """Return the spread over the seeds; None if there are no numbers."""
        return spread(list(self.numbers.values())) if self.numbers else None


@dataclass(frozen=True)
class Finding:
    """One ratio against its band."""

    case: Case
    metric: str
    has_several_metrics: bool
    """True if the claim has several metrics."""
    step: int
    """The number of this comparison within its case, from 0."""
    relation: str
    """What the claim says of the ratio, such as "<"."""
    band: Band
    left: Side
    right: Side
    ratio: Spread | None
    """Left by right, over the seeds."""
    missing: MissingRatio | None
    """Why there is no ratio; None if there is one."""
    printed_ratio: float | None
    """The ratio of the paper's figures; None if one is missing or invalid."""
    is_gap: bool = False
    """True if each side is a ratio itself, and the finding is the change of that ratio along an axis."""
    error: ErrorLeft | None = None
    """What the models' errors leave open of the ratio; None if they have no part in it."""
    geometric: Spread | None = None
    """The geometric mean of the single ratios, if the ratio is one of mean times: shown, and not judged by."""

    @property
    def cells(self) -> list[Combination]:
        """Return the cells that it rests on."""
        return [cell for side in (self.left, self.right) for cell, _ in side.exponents]

    @property
    def interval(self) -> tuple[float, float]:
        """Return the two ends that are held against the band. For an exact band they are the extremes: one seed of ten
        hardly moves the median, but refutes that all are the same.
        """
        assert self.ratio is not None
        if self.band.is_exact:
            return self.ratio.minimum, self.ratio.maximum
        return self.ratio.low, self.ratio.high

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the ratio; UNKNOWN if there is none."""
        return Verdict.UNKNOWN if self.ratio is None else self._verdict(self.ratio, *self.interval)

    @property
    def geometric_verdict(self) -> Verdict | None:
        """Return the verdict that the geometric mean of the single ratios would give; None without that mean."""
        mean = self.geometric
        return None if mean is None else self._verdict(mean, mean.low, mean.high)

    def _verdict(self, ratio: Spread, low: float, high: float) -> Verdict:
        """Return the verdict on an interval. Equality to the last digit is a matter of counting: no error of a model
        makes or breaks it. If the errors cancel, a claim of equality that holds is left alone too: its band may be
        narrower than SAME_LOAD.
        """
        holds = self.band.holds(low, high)
        if self.band.is_exact:
            return _verdict(bool(holds))
        exact = _verdict(holds)
        if self.error is None or holds is None:
            return exact
        is_same = ratio.minimum == ratio.maximum == 1
        if not self.error.sources and (is_same or (holds and self.band.low <= 1 <= self.band.high)):
            return exact
        return exact if self.band.holds(*self.error.widened(low, high)) == holds else Verdict.WITHIN_ERROR

    @property
    def margin(self) -> float:
        """Return the distance of the interval from the nearest end of the band, as a logarithm: below 0 if outside."""
        return _margin(self.band, *self.interval)

    @property
    def printed_margin(self) -> float:
        """Return the same distance for the ratio of the paper's figures."""
        assert self.printed_ratio is not None
        return _margin(self.band, self.printed_ratio, self.printed_ratio)

    @property
    def printed_verdict(self) -> Verdict | None:
        """Return the verdict on the paper's figures; None without a ratio of them."""
        ratio = self.printed_ratio
        return None if ratio is None else _verdict(self.band.holds(ratio, ratio))


def _verdict(holds: bool | None) -> Verdict:
    return Verdict.UNDECIDED if holds is None else Verdict.HOLDS if holds else Verdict.REFUTED


def _margin(band: Band, low: float, high: float) -> float:
    """Return the distance from the nearest end. An end that the band lacks is infinitely far away, also from a ratio
    that is 0 or infinite itself.
    """
    below = math.inf if band.low == 0 else _logarithm(low) - math.log(band.low)
    above = math.inf if band.high == math.inf else math.log(band.high) - _logarithm(high)
    return min(below, above)


def _logarithm(ratio: float) -> float:
    return math.log(ratio) if ratio else -math.inf
