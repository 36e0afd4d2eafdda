# SPDX-License-Identifier: Apache-2.0
"""What a claim is taken apart into: findings, one ratio each, held against the band that the claim asks for.

The interval of the ratio lies in the band, or outside, or across one of its ends; then the seeds do not decide. Where
the models' error could move it across an end, the models do not. The paper's own figures are held against the same
band. Knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from flashbed.analysis.claim_errors import ErrorLeft
from flashbed.analysis.ratio import Numbers
from flashbed.analysis.results import Combination
from flashbed.analysis.spread import Spread, spread
from flashbed.study.format import Printed
from flashbed.study.relation import Band
from flashbed.study.verdict import Verdict

NO_SEED = "the two have no seed in common"

Case = tuple[tuple[str, str], ...]
"""Axis and value of all that is neither compared nor the same everywhere."""


@dataclass(frozen=True)
class Side:
    """One of two cells; `printed` is the paper's figure for it. `cell` is None for a fixed number."""

    cell: Combination | None
    told: tuple[tuple[str, str], ...]
    """What tells it from the other side."""
    numbers: Numbers
    printed: Printed | None = None
    of: tuple[tuple[Side, float], ...] = ()
    """The sides that it is made of, each with its exponent: those that an average is of, or 1 and -1 in a ratio of two.
    """

    bound: Literal["", "at least", "at most"] = ""
    """Whether the numbers are not the metric's own, but what it is at least or at most (bounds.py)."""

    @property
    def exponents(self) -> Iterator[tuple[Combination, float]]:
        """The cells that it rests on, each with its exponent in the number: 0.5 in a geometric mean of two."""
        if self.cell is not None:
            yield self.cell, 1.0
        for one, exponent in self.of:
            yield from ((cell, exponent * own) for cell, own in one.exponents)

    @property
    def spread(self) -> Spread | None:
        return spread(list(self.numbers.values())) if self.numbers else None


@dataclass(frozen=True)
class Finding:
    """One ratio against its band; `step` numbers the comparisons of a case, `relation` is what the claim says of it."""

    case: Case
    metric: str
    metric_tells: bool
    """Whether the claim has several metrics."""
    step: int
    relation: str
    band: Band
    left: Side
    right: Side
    ratio: Spread | None
    reason: str
    """Why there is no ratio."""
    printed_ratio: float | None
    """That of the paper's figures, if it has both and neither is invalid."""
    is_gap: bool = False
    """Whether each side is a ratio itself, and the finding tells how that changes."""
    error: ErrorLeft | None = None
    """What the models' errors leave open of the ratio; None where they have no part in it."""
    beside: Spread | None = None
    """Of a ratio of mean times, the geometric mean of the single ratios: shown, and not judged by."""

    @property
    def cells(self) -> list[Combination]:
        """The cells that it rests on."""
        return [cell for side in (self.left, self.right) for cell, _ in side.exponents]

    @property
    def interval(self) -> tuple[float, float]:
        """What is held against the band. One seed of ten hardly moves the median, but refutes that all are the same."""
        assert self.ratio is not None
        if self.band.is_exact:
            return self.ratio.minimum, self.ratio.maximum
        return self.ratio.low, self.ratio.high

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNKNOWN if self.ratio is None else self._verdict(self.ratio, *self.interval)

    @property
    def verdict_beside(self) -> Verdict | None:
        """What it would be by the geometric mean of the single ratios."""
        return None if self.beside is None else self._verdict(self.beside, self.beside.low, self.beside.high)

    def _verdict(self, ratio: Spread, low: float, high: float) -> Verdict:
        """Sameness to the last digit is a matter of counting: no error of a model makes or breaks it. Where the errors
        cancel, a claim of sameness that holds is left alone too: its band may be narrower than what is left.
        """
        holds = self.band.holds(low, high)
        if self.band.is_exact:
            return _verdict(bool(holds))
        found = _verdict(holds)
        if self.error is None or holds is None:
            return found
        is_same = ratio.minimum == ratio.maximum == 1
        if not self.error.sources and (is_same or (holds and self.band.low <= 1 <= self.band.high)):
            return found
        return found if self.band.holds(*self.error.widened(low, high)) == holds else Verdict.WITHIN_ERROR

    @property
    def margin(self) -> float:
        """How far the ratio is from the nearest end of its band, as a logarithm: below 0 where it is outside."""
        return _margin(self.band, *self.interval)

    @property
    def printed_margin(self) -> float:
        """As `margin`, of the paper's figures."""
        assert self.printed_ratio is not None
        return _margin(self.band, self.printed_ratio, self.printed_ratio)

    @property
    def printed_verdict(self) -> Verdict | None:
        found = self.printed_ratio
        return None if found is None else _verdict(self.band.holds(found, found))


def _verdict(holds: bool | None) -> Verdict:
    return Verdict.UNDECIDED if holds is None else Verdict.HOLDS if holds else Verdict.REFUTED


def _margin(wanted: Band, low: float, high: float) -> float:
    """An end that the band has not is without end away, also from a ratio that is 0 or has no end itself."""
    below = math.inf if wanted.low == 0 else _logarithm(low) - math.log(wanted.low)
    above = math.inf if wanted.high == math.inf else math.log(wanted.high) - _logarithm(high)
    return min(below, above)


def _logarithm(ratio_: float) -> float:
    return math.log(ratio_) if ratio_ else -math.inf
