# SPDX-License-Identifier: Apache-2.0
"""What a claim is taken apart into: findings, one ratio each, held against the band that the claim asks for. Of a claim
on an average, one for each comparison that it makes.

The interval of the ratio lies in the band, or outside, or across one of its ends; then the seeds do not decide. Where
the models' error could move it across an end, the models do not. The paper's own figures are held against the same
band. Knows numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from flashbed.analysis.model_error import ErrorLeft
from flashbed.analysis.ratio import Numbers, Spread, geometric_mean, mean_by_seed, quotient, ratio, spread
from flashbed.analysis.results import Combination
from flashbed.study.format import Claim, Printed
from flashbed.study.relation import Band, Verdict

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
    """Whether the numbers are not the metric's own, but what it is at least or at most (claim_reading.py)."""

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


def averages(claim: Claim, findings: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for each comparison that the claim makes, over the cases or over those that differ in `over` alone.

    It is of the geometric mean of the ratios or, as many papers have it, of the ratio of the mean times: there a long
    file counts for more. Cases differ in what is not compared; so the same comparison is that of the same two sides.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        case = tuple(pair for pair in finding.case if claim.over and pair[0] not in claim.over)
        key = (finding.metric, finding.relation, finding.band, finding.left.told, finding.right.told, case)
        groups.setdefault(key, []).append(replace(finding, case=case))
    in_time = claim.average == "time"
    for group in groups.values():
        first = group[0]
        missing = [finding for finding in group if finding.ratio is None]
        left, right = first.left, first.right
        single = None if missing else ratio([(finding.left.numbers, finding.right.numbers) for finding in group])
        found = single
        if len(group) > 1:
            sides = [[getattr(one, name) for one in group] for name in ("left", "right")]
            left, right = (_all_cells(each_, in_time and not missing) for each_ in sides)
            if in_time and not missing:
                found = ratio([(left.numbers, right.numbers)])
        reason = missing[0].reason if missing else "" if found else NO_SEED
        beside = single if in_time and len(group) > 1 else None
        printed = _mean_printed(group, in_time)
        yield replace(first, left=left, right=right, ratio=found, reason=reason, printed_ratio=printed, beside=beside)


def _mean_printed(group: Sequence[Finding], in_time: bool) -> float | None:
    """The paper's figures averaged likewise; None if one of them is missing or invalid."""
    ratios = [finding.printed_ratio for finding in group if finding.printed_ratio is not None]
    if len(ratios) < len(group):
        return None
    if not in_time:
        return geometric_mean(ratios)
    pairs = [(one.left.printed, one.right.printed) for one in group]
    return quotient(fmean(a.value for a, _ in pairs if a), fmean(b.value for _, b in pairs if b))


def _all_cells(sides: Sequence[Side], in_time: bool) -> Side:
    """Of an average of ratios no single cell's numbers are shown, of one of times the means; the paper's figure is, if
    it is one for all.
    """
    same = all(side.printed == sides[0].printed for side in sides)
    means = mean_by_seed([side.numbers for side in sides]) if in_time else {}
    of = tuple(zip(sides, _shares(sides, in_time), strict=True))
    return Side(None, sides[0].told, means, sides[0].printed if same else None, of)


def _shares(sides: Sequence[Side], in_time: bool) -> Sequence[float]:
    """By how much the mean grows with each side, as an exponent: in a geometric mean all alike, in one of times each by
    its part of their sum.
    """
    times = [side.spread.median for side in sides if side.spread] if in_time else []
    whole = math.fsum(times)
    return [time / whole for time in times] if whole else [1 / len(sides)] * len(sides)
