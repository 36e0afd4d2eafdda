# SPDX-License-Identifier: Apache-2.0
"""Whether the results bear out what a claim says, and the numbers that decide it.

A claim is read first: the comparisons that it makes among the cells of a study, each with its band. Cells that differ
in nothing that the claim compares make a case. What comes of that are findings, one ratio each, held against the band
that the claim asks for; of a claim on an average, one for each comparison that it makes. Each has a verdict of its own,
and these become that of the claim.

The interval of a ratio lies in the band, or outside, or across one of its ends; then the seeds do not decide. Where the
models' error could move it across an end, the models do not. Where the life of a medium is not known yet, its bounds
may decide: "at most 0.44 years" refutes seven. The paper's own figures are held against the same band. Knows no words
for people but those for "at least" and "at most".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from statistics import fmean
from typing import Literal

from flashbed.analysis.model_error import ErrorLeft, SourceOf, left_over
from flashbed.analysis.ratio import Numbers, Spread, geometric_mean, mean_by_seed, quotient, ratio, spread
from flashbed.analysis.results import Results
from flashbed.analysis.words import metric_of, scale_of
from flashbed.common.units import by_size
from flashbed.guest_output.wear import BOUNDED_BY
from flashbed.result.columns import Combination
from flashbed.study.format import Claim, Printed, Where
from flashbed.study.relation import CLEAR, FEW, Band, Verdict, band, each

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
    """Whether the numbers are not the metric's own, but what it is at least or at most."""

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


def bounds_of(results: Results, metric: str, cell: Combination) -> Bounds | None:
    """Return the bounds of a metric in a cell; None if it has none."""
    if metric not in BOUNDED_BY:
        return None
    least, most = (results.numbers(name).get(cell, {}) for name in BOUNDED_BY[metric])
    return Bounds(least, most) if least or most else None


NO_WAY_BACK = Band(1 / CLEAR, float("inf"))
"""What each step along an axis on which a metric rises must at least be."""

NO_GAP = "a ratio of which one number is 0 has no size that could change"


def comparisons(claim: Claim, metric: str, results: Results) -> Iterator[Finding]:
    """In the study's order of cases; within a case, in the order of the claim."""
    axes = list(results.axes)
    numbers = results.numbers(metric)
    cells = list(results.combinations(claim.where))
    compared = {*(axis for selection in claim.compare for axis in selection), *([claim.along] if claim.along else [])}
    telling = [axis for place, axis in enumerate(axes) if axis not in compared and len({c[place] for c in cells}) > 1]

    def part(cell: Combination, names: Iterable[str]) -> Case:
        return tuple((axis, cell[axes.index(axis)]) for axis in names)

    def side(cell: Combination) -> Side:
        told = part(cell, (axis for axis in axes if axis in compared))
        return Side(cell, told, numbers.get(cell, {}), _printed(claim, metric, results.coordinates(cell)))

    cases: dict[Case, list[Combination]] = {}
    for cell in cells:
        cases.setdefault(part(cell, telling), []).append(cell)
    for case, members in cases.items():
        steps = _steps(claim, members, lambda cell, selection: _takes(axes, cell, selection), axes)
        for step, (relation, wanted, first, second) in enumerate(steps):
            left = side(first)
            if second is None and not left.numbers:
                left = _bounded(claim, metric, results, wanted, left)
            right = side(second) if second is not None else _fixed(claim, left)
            found = ratio([(left.numbers, right.numbers)])
            reason = "" if found else _why_not(results, metric, [left, right])
            several = len(claim.metric) > 1
            yield Finding(
                case, metric, several, step, relation, wanted, left, right, found, reason, _printed_ratio(left, right)
            )


def _bounded(claim: Claim, metric: str, results: Results, wanted: Band, left: Side) -> Side:
    """The side with the bound that decides, where the metric itself is not known; unchanged if none does."""
    assert left.cell is not None
    known = bounds_of(results, metric, left.cell)
    found = known.deciding(claim.value, wanted) if known and claim.value else None
    return replace(left, bound=found[0], numbers=found[1]) if found else left


def gaps(claim: Claim, metric: str, results: Results) -> Iterator[Finding]:
    """How the ratio of the two that are compared changes along an axis: a ratio of ratios, seed by seed."""
    assert claim.gap_along is not None
    series: dict[Case, dict[str, Finding]] = {}
    for found in comparisons(claim, metric, results):
        here = dict(found.case)
        value = here.pop(claim.gap_along, None)
        if value is None:  # of a part of the study, with one value: nothing can change
            continue
        series.setdefault(tuple(here.items()), {})[value] = found
    for case, by_value in series.items():
        for relation, wanted, later, earlier in _trend(claim, list(by_value)):
            pair = by_value[later], by_value[earlier]
            left, right = (
                Side(None, ((claim.gap_along, value),), _ratios(one), of=((one.left, 1.0), (one.right, -1.0)))
                for value, one in zip((later, earlier), pair, strict=True)
            )
            ratio_of_ratios = ratio([(left.numbers, right.numbers)])
            reason = "" if ratio_of_ratios else _why_no_gap(pair)
            tells = len(claim.metric) > 1
            yield Finding(
                case, metric, tells, 0, relation, wanted, left, right, ratio_of_ratios, reason, None, is_gap=True
            )


def _ratios(finding: Finding) -> Numbers:
    """Left by right, seed by seed; nothing where there is no ratio, or one of a zero."""
    mine, its = finding.left.numbers, finding.right.numbers
    if finding.ratio is None or _has_zero(finding):
        return {}
    return {seed: mine[seed] / its[seed] for seed in mine if seed in its}


def _has_zero(finding: Finding) -> bool:
    mine, its = finding.left.numbers, finding.right.numbers
    return any(0.0 in (mine[seed], its[seed]) for seed in mine if seed in its)


def _why_no_gap(pair: Sequence[Finding]) -> str:
    if any(one.ratio is not None and _has_zero(one) for one in pair):
        return NO_GAP
    return next((one.reason for one in pair if one.reason), NO_SEED)


Step = tuple[str, Band, Combination, Combination | None]
"""The relation, its band, and the cells; no second one for a fixed value."""


def _steps(
    claim: Claim, cells: Sequence[Combination], takes: Callable[[Combination, Where], bool], axes: Sequence[str]
) -> Iterator[Step]:
    """The comparisons that a claim makes among the cells of one case."""
    if claim.value is not None:
        for cell in cells:
            yield claim.relation[0], band(claim.relation[0], each(claim.by, 1)[0], clear=1.0), cell, None
    elif claim.along is not None:
        yield from _along(claim, cells, axes.index(claim.along))
    else:
        count = len(claim.compare) - 1
        words = zip(each(claim.relation, count), each(claim.by, count), strict=True)
        for place, (relation, by) in enumerate(words):
            left, right = claim.compare[place : place + 2]
            for first in (cell for cell in cells if takes(cell, left)):
                for second in (cell for cell in cells if takes(cell, right)):
                    yield relation, band(relation, by), first, second


def _along(claim: Claim, cells: Sequence[Combination], place: int) -> Iterator[Step]:
    """The comparisons of the cells of one case along an axis."""
    by_value = {cell[place]: cell for cell in cells}
    for relation, wanted, later, earlier in _trend(claim, list(by_value)):
        yield relation, wanted, by_value[later], by_value[earlier]


def _trend(claim: Claim, values: Sequence[str]) -> Iterator[tuple[str, Band, str, str]]:
    """What must hold between values of an axis. Rising: no step back, the last above the first. Flat: no two apart."""
    relation, wanted = claim.relation[0], band(claim.relation[0], each(claim.by, 1)[0])
    ordered = by_size(values)
    if relation == "flat":
        for first, second in combinations(ordered, 2):
            yield "=", wanted, second, first
        return
    forwards = relation == "rises"
    never_back = NO_WAY_BACK if forwards else Band(0.0, CLEAR)
    if len(ordered) > 2:
        for first, second in pairwise(ordered):
            yield "≥" if forwards else "≤", never_back, second, first
    if len(ordered) > 1:
        yield ">" if forwards else "<", wanted, ordered[-1], ordered[0]


def _takes(axes: Sequence[str], cell: Combination, selection: Where) -> bool:
    return all(cell[axes.index(axis)] in values for axis, values in selection.items())


def _fixed(claim: Claim, left: Side) -> Side:
    """The claim's own number, with each seed. It may be 0, which no paper prints of two that it compares."""
    assert claim.value is not None
    return Side(None, (), dict.fromkeys(left.numbers, claim.value), Printed.model_construct(value=claim.value))


def _printed_ratio(left: Side, right: Side) -> float | None:
    mine, its = left.printed, right.printed
    if mine is None or its is None or mine.invalid or its.invalid or mine.value < 0 or its.value < 0:
        return None
    return quotient(mine.value, its.value)


def _printed(claim: Claim, metric: str, coordinates: Mapping[str, str]) -> Printed | None:
    for figure in claim.printed:
        fits = all(coordinates[axis] in values for axis, values in figure.at.items())
        if fits and figure.metric in (None, metric):
            return figure
    return None


def _open_bounds(known: Bounds, metric: str) -> str:
    """ "not known yet: at most 9.4 years" """
    scale = scale_of(metric_of(metric), [*known.least.values(), *known.most.values()])
    ends = [("at least", known.least, min), ("at most", known.most, max)]
    told = [f"{word} {scale.figure(pick(numbers.values()))}" for word, numbers, pick in ends if numbers]
    return f"not known yet: {' and '.join(told)}"


def _why_not(results: Results, metric: str, sides: Sequence[Side]) -> str:
    """Why a comparison has no ratio: what became of a cell, in the words of its repetitions."""
    for side in sides:
        if side.numbers or side.cell is None:
            continue
        repetitions = [r for r in results.repetitions if r.combination == side.cell]
        ends = dict.fromkeys(
            f"{r.outcome}: {r.reason}" if r.reason else r.outcome for r in repetitions if not r.is_measured
        )
        known = bounds_of(results, metric, side.cell)
        return next(iter(ends), _open_bounds(known, metric) if known else f"it has no {metric}")
    if any(number < 0 for side in sides for number in side.numbers.values()):
        return "a number below zero has no ratio"
    return NO_SEED


@dataclass(frozen=True)
class Judgement:
    """A claim with what became of it. `decisive` are the findings that made the verdict."""

    claim: Claim
    verdict: Verdict
    findings: Sequence[Finding]
    cases: Mapping[tuple[str, Case], Verdict]
    """By metric and case."""
    printed_verdict: Verdict | None
    reason: str = ""
    """Why there is nothing to judge by."""

    @property
    def decisive(self) -> list[Finding]:
        """The findings with the claim's verdict; if it holds, all."""
        return [finding for finding in self.findings if finding.verdict == self.verdict]

    @property
    def deciding(self) -> Finding | None:
        """The finding that says most: of a claim that holds the closest, of one that does not, or that the models leave
        open, the clearest against it; of one that is open else, the first that leaves it open.
        """
        found = self.decisive
        if not found or found[0].ratio is None or self.verdict == Verdict.UNDECIDED:
            return found[0] if found else None
        return min(found, key=lambda finding: finding.margin)

    @property
    def why(self) -> str:
        """The study's own words on why the claim came to this verdict; none if it came to another. If the models leave
        it open and the figures are against it, the words on that explain the figures all the same.
        """
        deciding = self.deciding
        if self.verdict == Verdict.WITHIN_ERROR and self.verdict not in self.claim.why and deciding:
            return self.claim.why.get(Verdict.REFUTED, "") if deciding.margin < 0 else ""
        return self.claim.why.get(self.verdict, "")

    @property
    def printed_against(self) -> Finding | None:
        """Where the paper's own figures are clearest against it."""
        found = [finding for finding in self.findings if finding.printed_verdict == Verdict.REFUTED]
        return min(found, key=lambda finding: finding.printed_margin) if found else None

    @property
    def invalid(self) -> list[Printed]:
        """The paper's figures that cannot be right."""
        return [printed for printed in self.claim.printed if printed.invalid]


def judge(claim: Claim, results: Results, source_of: SourceOf | None = None) -> Judgement:
    """Hold a claim, with its selections in full, against results that have its axes. `source_of` names the model whose
    error is in a cell's figure; without it the figures count as exact.
    """
    find = comparisons if claim.gap_along is None else gaps
    findings = [found for metric in claim.metric for found in find(claim, metric, results)]
    if claim.cells == "average":
        findings = list(averages(claim, findings))
    findings = [replace(one, error=_error(one, source_of)) for one in _without_constants(findings)]
    verdicts: dict[tuple[str, Case], list[Verdict]] = {}
    for finding in findings:
        verdicts.setdefault((finding.metric, finding.case), []).append(finding.verdict)
    cases = {place: every(found) for place, found in verdicts.items()}
    printed: dict[tuple[str, Case], list[Verdict]] = {}
    for finding in findings:
        if finding.printed_verdict is not None:
            printed.setdefault((finding.metric, finding.case), []).append(finding.printed_verdict)
    combine = {"most": most, "almost every": almost_every}.get(claim.cells, every)
    if not cases:
        return Judgement(claim, Verdict.UNKNOWN, [], {}, None, "none of its cells is among the results")
    return Judgement(
        claim,
        combine(cases.values()),
        findings,
        cases,
        combine([every(found) for found in printed.values()]) if printed else None,
    )


def undecidable(claim: Claim, reason: str) -> Judgement:
    """A claim for which there are no results at all."""
    return Judgement(claim, Verdict.UNKNOWN, [], {}, None, reason)


OPEN = (Verdict.WITHIN_ERROR, Verdict.UNDECIDED, Verdict.UNKNOWN)
"""What leaves a claim open, the first that is told first."""


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """One that does not hold decides, whatever else is open."""
    found = set(verdicts)
    return next((verdict for verdict in (Verdict.REFUTED, *OPEN) if verdict in found), Verdict.HOLDS)


def most(verdicts: Iterable[Verdict]) -> Verdict:
    """More than half; what is open counts as neither."""
    found = list(verdicts)
    if found.count(Verdict.HOLDS) * 2 > len(found):
        return Verdict.HOLDS
    if found.count(Verdict.REFUTED) * 2 >= len(found):
        return Verdict.REFUTED
    return _open_verdict(found)


def almost_every(verdicts: Iterable[Verdict]) -> Verdict:
    """All but a few (relation.FEW); what is open counts as neither."""
    found = list(verdicts)
    few = FEW * len(found)
    if len(found) - found.count(Verdict.HOLDS) <= few:
        return Verdict.HOLDS
    if found.count(Verdict.REFUTED) > few:
        return Verdict.REFUTED
    return _open_verdict(found)


def _open_verdict(found: Sequence[Verdict]) -> Verdict:
    return next(verdict for verdict in OPEN if verdict in found)


def _error(finding: Finding, source_of: SourceOf | None) -> ErrorLeft | None:
    if source_of is None or finding.ratio is None:
        return None
    exponents = [
        (cell, sign * exponent)
        for side, sign in ((finding.left, 1.0), (finding.right, -1.0))
        for cell, exponent in side.exponents
    ]
    return left_over(exponents, finding.metric, source_of)


def _without_constants(findings: Sequence[Finding]) -> list[Finding]:
    """Without what is the same in the case of each."""
    columns = list(zip(*(finding.case for finding in findings), strict=True))
    telling = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    return [replace(finding, case=tuple(finding.case[place] for place in telling)) for finding in findings]
