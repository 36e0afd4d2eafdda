# SPDX-License-Identifier: Apache-2.0
"""Whether the results bear out what a claim says, and the numbers that decide it.

A claim is taken apart into findings: one ratio each, held against the band that the claim asks for. The interval of the
ratio lies in the band, or outside, or across one of its ends; then the seeds do not decide. The paper's own figures are
held against the same bands. Knows no words for people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from statistics import fmean

from flashbed.analysis.ratio import Numbers, geometric_mean, quotient, ratio
from flashbed.analysis.results import Combination, Results
from flashbed.analysis.spread import Spread, spread
from flashbed.common.units import by_size
from flashbed.study.format import Claim, Printed, Verdict, Where
from flashbed.study.relation import CLEAR, FEW, Band, band, each

ClaimVerdict = Verdict

NO_WAY_BACK = Band(1 / CLEAR, float("inf"))
"""What each step along an axis on which a metric rises must at least be."""

NO_SEED = "the two have no seed in common"
NO_GAP = "a ratio of which one number is 0 has no size that could change"

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
    of: tuple[Side, ...] = ()
    """The sides that it is made of: those that an average is of, or the two of which it is the ratio."""

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
    beside: Spread | None = None
    """Of a ratio of mean times, the geometric mean of the single ratios: shown, and not judged by."""

    @property
    def cells(self) -> list[Combination]:
        """The cells that it rests on."""
        return [cell for side in (self.left, self.right) for cell in _cells_of(side)]

    @property
    def interval(self) -> tuple[float, float]:
        """What is held against the band. One seed of ten hardly moves the median, but refutes that all are the same."""
        assert self.ratio is not None
        if self.band.is_exact:
            return self.ratio.minimum, self.ratio.maximum
        return self.ratio.low, self.ratio.high

    @property
    def verdict(self) -> ClaimVerdict:
        if self.ratio is None:
            return "cannot be decided"
        held = self.band.holds(*self.interval)
        return _verdict(bool(held) if self.band.is_exact else held)

    @property
    def verdict_beside(self) -> ClaimVerdict | None:
        """What it would be by the geometric mean of the single ratios."""
        return None if self.beside is None else _verdict(self.band.holds(self.beside.low, self.beside.high))

    @property
    def margin(self) -> float:
        """How far the ratio is from the nearest end of its band, as a logarithm: below 0 where it is outside."""
        return _margin(self.band, *self.interval)

    @property
    def printed_verdict(self) -> ClaimVerdict | None:
        found = self.printed_ratio
        return None if found is None else _verdict(self.band.holds(found, found))


@dataclass(frozen=True)
class Judgement:
    """A claim with what became of it. `decisive` are the findings that made the verdict."""

    claim: Claim
    verdict: ClaimVerdict
    findings: Sequence[Finding]
    cases: Mapping[tuple[str, Case], ClaimVerdict]
    """By metric and case."""
    printed_verdict: ClaimVerdict | None
    reason: str = ""
    """Why there is nothing to judge by."""

    @property
    def decisive(self) -> list[Finding]:
        """The findings with the claim's verdict; if it holds, all."""
        return [finding for finding in self.findings if finding.verdict == self.verdict]

    @property
    def deciding(self) -> Finding | None:
        """The finding that says most: of a claim that holds the closest, of one that does not the clearest against it;
        of one that is open, the first that leaves it open.
        """
        found = self.decisive
        if not found or found[0].ratio is None or self.verdict not in ("holds", "does not hold"):
            return found[0] if found else None
        return min(found, key=lambda finding: finding.margin)

    @property
    def why(self) -> str:
        """The study's own words on why the claim came to this verdict; none if it came to another."""
        return self.claim.why.get(self.verdict, "")

    @property
    def printed_against(self) -> Finding | None:
        """Where the paper's own figures are clearest against it."""
        found = [finding for finding in self.findings if finding.printed_verdict == "does not hold"]
        return min(found, key=lambda finding: _printed_margin(finding)) if found else None

    @property
    def invalid(self) -> list[Printed]:
        """The paper's figures that cannot be right."""
        return [printed for printed in self.claim.printed if printed.invalid]


def judge(claim: Claim, results: Results) -> Judgement:
    """Holds a claim, with its selections in full, against results that have its axes."""
    find = _findings if claim.gap_along is None else _gaps
    findings = [found for metric in claim.metric for found in find(claim, metric, results)]
    if claim.cells == "average":
        findings = list(_averages(claim, findings))
    findings = _without_constants(findings)
    verdicts: dict[tuple[str, Case], list[ClaimVerdict]] = {}
    for finding in findings:
        verdicts.setdefault((finding.metric, finding.case), []).append(finding.verdict)
    cases = {place: every(found) for place, found in verdicts.items()}
    printed: dict[tuple[str, Case], list[ClaimVerdict]] = {}
    for finding in findings:
        if finding.printed_verdict is not None:
            printed.setdefault((finding.metric, finding.case), []).append(finding.printed_verdict)
    combine = {"most": most, "almost every": almost_every}.get(claim.cells, every)
    if not cases:
        return Judgement(claim, "cannot be decided", [], {}, None, "none of its cells is among the results")
    return Judgement(
        claim,
        combine(cases.values()),
        findings,
        cases,
        combine([every(found) for found in printed.values()]) if printed else None,
    )


def undecidable(claim: Claim, reason: str) -> Judgement:
    """A claim for which there are no results at all."""
    return Judgement(claim, "cannot be decided", [], {}, None, reason)


def every(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """One that does not hold decides, whatever else is open."""
    found = set(verdicts)
    order: tuple[ClaimVerdict, ...] = ("does not hold", "undecided", "cannot be decided")
    return next((verdict for verdict in order if verdict in found), "holds")


def most(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """More than half; what is open counts as neither."""
    found = list(verdicts)
    if found.count("holds") * 2 > len(found):
        return "holds"
    if found.count("does not hold") * 2 >= len(found):
        return "does not hold"
    return "undecided" if "undecided" in found else "cannot be decided"


def almost_every(verdicts: Iterable[ClaimVerdict]) -> ClaimVerdict:
    """All but a few (relation.FEW); what is open counts as neither."""
    found = list(verdicts)
    few = FEW * len(found)
    if len(found) - found.count("holds") <= few:
        return "holds"
    if found.count("does not hold") > few:
        return "does not hold"
    return "undecided" if "undecided" in found else "cannot be decided"


def _verdict(holds: bool | None) -> ClaimVerdict:
    return "undecided" if holds is None else "holds" if holds else "does not hold"


def _findings(claim: Claim, metric: str, results: Results) -> Iterator[Finding]:
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
            right = side(second) if second is not None else _fixed(claim, left)
            found = ratio([(left.numbers, right.numbers)])
            reason = "" if found else _why_not(results, metric, [left, right])
            several = len(claim.metric) > 1
            yield Finding(
                case, metric, several, step, relation, wanted, left, right, found, reason, _printed_ratio(left, right)
            )


def _gaps(claim: Claim, metric: str, results: Results) -> Iterator[Finding]:
    """How the ratio of the two that are compared changes along an axis: a ratio of ratios, seed by seed."""
    assert claim.gap_along is not None
    series: dict[Case, dict[str, Finding]] = {}
    for found in _findings(claim, metric, results):
        here = dict(found.case)
        value = here.pop(claim.gap_along, None)
        if value is None:  # of a part of the study, with one value: nothing can change
            continue
        series.setdefault(tuple(here.items()), {})[value] = found
    for case, by_value in series.items():
        for relation, wanted, later, earlier in _trend(claim, list(by_value)):
            pair = by_value[later], by_value[earlier]
            left, right = (
                Side(None, ((claim.gap_along, value),), _ratios(one), of=(one.left, one.right))
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


def _without_constants(findings: Sequence[Finding]) -> list[Finding]:
    """Without what is the same in the case of each."""
    columns = list(zip(*(finding.case for finding in findings), strict=True))
    telling = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    return [replace(finding, case=tuple(finding.case[place] for place in telling)) for finding in findings]


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
    """The claim's own number, with each seed."""
    assert claim.value is not None
    return Side(None, (), dict.fromkeys(left.numbers, claim.value), Printed(value=claim.value))


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


def _averages(claim: Claim, findings: Sequence[Finding]) -> Iterator[Finding]:
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
    seeds = [seed for seed in sides[0].numbers if all(seed in side.numbers for side in sides)] if in_time else []
    means = {seed: fmean(side.numbers[seed] for side in sides) for seed in seeds}
    return Side(None, sides[0].told, means, sides[0].printed if same else None, tuple(sides))


def _cells_of(side: Side) -> Iterator[Combination]:
    if side.cell is not None:
        yield side.cell
    for one in side.of:
        yield from _cells_of(one)


def _printed_margin(finding: Finding) -> float:
    """As Finding.margin, of the paper's figures."""
    found = finding.printed_ratio
    assert found is not None
    return _margin(finding.band, found, found)


def _margin(wanted: Band, low: float, high: float) -> float:
    """An end that the band has not is without end away, also from a ratio that is 0 or has no end itself."""
    below = math.inf if wanted.low == 0 else _logarithm(low) - math.log(wanted.low)
    above = math.inf if wanted.high == math.inf else math.log(wanted.high) - _logarithm(high)
    return min(below, above)


def _logarithm(ratio_: float) -> float:
    return math.log(ratio_) if ratio_ else -math.inf


def _why_not(results: Results, metric: str, sides: Sequence[Side]) -> str:
    """Why a comparison has no ratio: what became of a cell, in the words of its repetitions."""
    for side in sides:
        if side.numbers or side.cell is None:
            continue
        repetitions = [r for r in results.repetitions if r.combination == side.cell]
        ends = dict.fromkeys(
            f"{r.outcome}: {r.reason}" if r.reason else r.outcome for r in repetitions if not r.is_measured
        )
        return next(iter(ends), f"it has no {metric}")
    if any(number < 0 for side in sides for number in side.numbers.values()):
        return "a number below zero has no ratio"
    return NO_SEED
