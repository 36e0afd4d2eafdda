# SPDX-License-Identifier: Apache-2.0
"""The ratios that a claim is about: which cells of a study it compares, and the band that each ratio must lie in.

Cells that differ in nothing that the claim compares make a case. A claim makes its comparisons in each case: of two
cells or more, along an axis, against a fixed number, of how a ratio changes along an axis, or of averages over cases.
If the life of a medium is not known yet, its bounds may decide: "at most 0.44 years" refutes seven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from statistics import fmean

from flashbed.analysis.finding import (
    Bounds,
    Case,
    Finding,
    MissingRatio,
    NoMetric,
    NoRatio,
    NotMeasured,
    OpenBounds,
    Side,
)
from flashbed.analysis.ratio import Numbers, geometric_mean, mean_by_seed, quotient, ratio
from flashbed.analysis.study_results import Results
from flashbed.common.units import by_size
from flashbed.guest_output.wear import BOUNDED_BY
from flashbed.result.columns import Combination
from flashbed.study.format import Claim, Printed, Where
from flashbed.study.relation import CLEAR, Band, band, each

NO_WAY_BACK = Band(1 / CLEAR, float("inf"))
"""The band of each step along an axis on which a metric rises."""


def comparisons(claim: Claim, metric: str, results: Results) -> Iterator[Finding]:
    """Yield a finding for each comparison of cells: cases in the study's order, and each case in the claim's order."""
    axes = list(results.axes)
    numbers = results.numbers(metric)
    cells = list(results.combinations(claim.where))
    compared = {*(axis for selection in claim.compare for axis in selection), *([claim.along] if claim.along else [])}
    telling = [axis for place, axis in enumerate(axes) if axis not in compared and len({c[place] for c in cells}) > 1]

    def part(cell: Combination, names: Iterable[str]) -> Case:
        return tuple((axis, cell[axes.index(axis)]) for axis in names)

    def side(cell: Combination) -> Side:
        coordinates = part(cell, (axis for axis in axes if axis in compared))
        return Side(cell, coordinates, numbers.get(cell, {}), _printed(claim, metric, results.coordinates(cell)))

    cases: dict[Case, list[Combination]] = {}
    for cell in cells:
        cases.setdefault(part(cell, telling), []).append(cell)
    for case, members in cases.items():
        steps = _steps(claim, members, lambda cell, selection: _takes(axes, cell, selection), axes)
        for number, step in enumerate(steps):
            left = side(step.left)
            if step.right is None and not left.numbers:
                left = _bounded(claim, metric, results, step.band, left)
            right = side(step.right) if step.right is not None else _fixed(claim, left)
            left_by_right = ratio([(left.numbers, right.numbers)])
            yield Finding(
                case=case,
                metric=metric,
                has_several_metrics=len(claim.metric) > 1,
                step=number,
                relation=step.relation,
                band=step.band,
                left=left,
                right=right,
                ratio=left_by_right,
                missing=None if left_by_right else _why_no_ratio(results, metric, [left, right]),
                printed_ratio=_printed_ratio(left, right),
            )


@dataclass(frozen=True)
class _Step:
    """One comparison that a claim makes in a case; `right` is None for a fixed value."""

    relation: str
    band: Band
    left: Combination
    right: Combination | None


def _steps(
    claim: Claim, cells: Sequence[Combination], takes: Callable[[Combination, Where], bool], axes: Sequence[str]
) -> Iterator[_Step]:
    """Yield the comparisons that a claim makes among the cells of one case."""
    if claim.value is not None:
        for cell in cells:
            yield _Step(claim.relation[0], band(claim.relation[0], each(claim.by, 1)[0], clear=1.0), cell, None)
    elif claim.along is not None:
        place = axes.index(claim.along)
        by_value = {cell[place]: cell for cell in cells}
        for relation, wanted, later, earlier in _trend(claim, list(by_value)):
            yield _Step(relation, wanted, by_value[later], by_value[earlier])
    else:
        count = len(claim.compare) - 1
        relations = zip(each(claim.relation, count), each(claim.by, count), strict=True)
        for place, (relation, by) in enumerate(relations):
            left, right = claim.compare[place : place + 2]
            for first in (cell for cell in cells if takes(cell, left)):
                for second in (cell for cell in cells if takes(cell, right)):
                    yield _Step(relation, band(relation, by), first, second)


def _trend(claim: Claim, values: Sequence[str]) -> Iterator[tuple[str, Band, str, str]]:
    """Yield relation, band, later and earlier value for each pair of values of an axis that a trend compares. A rise
    allows no step back and wants the last above the first; "flat" wants no two values apart.
    """
    relation, wanted = claim.relation[0], band(claim.relation[0], each(claim.by, 1)[0])
    ordered = by_size(values)
    if relation == "flat":
        for first, second in combinations(ordered, 2):
            yield "=", wanted, second, first
        return
    rises = relation == "rises"
    never_back = NO_WAY_BACK if rises else Band(0.0, CLEAR)
    if len(ordered) > 2:
        for first, second in pairwise(ordered):
            yield "≥" if rises else "≤", never_back, second, first
    if len(ordered) > 1:
        yield ">" if rises else "<", wanted, ordered[-1], ordered[0]


def _takes(axes: Sequence[str], cell: Combination, selection: Where) -> bool:
    return all(cell[axes.index(axis)] in values for axis, values in selection.items())


def _fixed(claim: Claim, left: Side) -> Side:
    """Return the claim's own number as a side, with the seeds of `left`. Unlike a figure of a paper it may be 0."""
    assert claim.value is not None
    return Side(None, (), dict.fromkeys(left.numbers, claim.value), Printed.model_construct(value=claim.value))


def _printed(claim: Claim, metric: str, coordinates: Mapping[str, str]) -> Printed | None:
    """Return the paper's figure for a cell; None if it has none."""
    for figure in claim.printed:
        fits = all(coordinates[axis] in values for axis, values in figure.at.items())
        if fits and figure.metric in (None, metric):
            return figure
    return None


def _printed_ratio(left: Side, right: Side) -> float | None:
    """Return the ratio of the paper's figures; None if one is missing, invalid or below zero."""
    figures = left.printed, right.printed
    if any(figure is None or figure.invalid or figure.value < 0 for figure in figures):
        return None
    above, below = (figure.value for figure in figures if figure)
    return quotient(above, below)


def _why_no_ratio(results: Results, metric: str, sides: Sequence[Side]) -> MissingRatio:
    """Return why a comparison has no ratio: how a repetition of the first cell without a number ended."""
    for side in sides:
        if side.numbers or side.cell is None:
            continue
        repetitions = (row for row in results.repetitions if row.combination == side.cell)
        if row := next((row for row in repetitions if not row.is_measured), None):
            return NotMeasured(row.outcome, row.reason)
        bounds = bounds_of(results, metric, side.cell)
        return OpenBounds(metric, bounds) if bounds else NoMetric(metric)
    if any(number < 0 for side in sides for number in side.numbers.values()):
        return NoRatio.BELOW_ZERO
    return NoRatio.NO_COMMON_SEED


def bounds_of(results: Results, metric: str, cell: Combination) -> Bounds | None:
    """Return the bounds of a metric in a cell; None if it has none."""
    if metric not in BOUNDED_BY:
        return None
    least, most = (results.numbers(name).get(cell, {}) for name in BOUNDED_BY[metric])
    return Bounds(least, most) if least or most else None


def _bounded(claim: Claim, metric: str, results: Results, wanted: Band, left: Side) -> Side:
    """Return a side of unknown metric with the bound that decides; unchanged if neither does."""
    assert left.cell is not None
    bounds = bounds_of(results, metric, left.cell)
    deciding = bounds.deciding(claim.value, wanted) if bounds and claim.value else None
    return replace(left, bound=deciding[0], numbers=deciding[1]) if deciding else left


def gaps(claim: Claim, metric: str, results: Results) -> Iterator[Finding]:
    """Yield findings on how the ratio of two sides changes along an axis: ratios of ratios, seed by seed."""
    axis = claim.gap_along
    assert axis is not None
    series: dict[Case, dict[str, Finding]] = {}
    for finding in comparisons(claim, metric, results):
        case = dict(finding.case)
        value = case.pop(axis, None)
        if value is None:  # a part of the study with one value of the axis: nothing can change
            continue
        series.setdefault(tuple(case.items()), {})[value] = finding
    for rest, by_value in series.items():
        for relation, wanted, later, earlier in _trend(claim, list(by_value)):
            left, right = (_ratio_side(axis, value, by_value[value]) for value in (later, earlier))
            change = ratio([(left.numbers, right.numbers)])
            yield Finding(
                case=rest,
                metric=metric,
                has_several_metrics=len(claim.metric) > 1,
                step=0,
                relation=relation,
                band=wanted,
                left=left,
                right=right,
                ratio=change,
                missing=None if change else _why_no_gap((by_value[later], by_value[earlier])),
                printed_ratio=None,
                is_gap=True,
            )


def _ratio_side(axis: str, value: str, finding: Finding) -> Side:
    """Return a finding's ratio at one value of an axis as a side."""
    return Side(None, ((axis, value),), _ratios(finding), parts=((finding.left, 1.0), (finding.right, -1.0)))


def _ratios(finding: Finding) -> Numbers:
    """Return left by right, by seed; empty if there is no ratio, or if a number is zero."""
    if finding.ratio is None or _has_zero(finding):
        return {}
    left, right = finding.left.numbers, finding.right.numbers
    return {seed: left[seed] / right[seed] for seed in left if seed in right}


def _has_zero(finding: Finding) -> bool:
    left, right = finding.left.numbers, finding.right.numbers
    return any(0.0 in (left[seed], right[seed]) for seed in left if seed in right)


def _why_no_gap(pair: Sequence[Finding]) -> MissingRatio:
    """Return why two findings have no ratio of their ratios."""
    if any(finding.ratio is not None and _has_zero(finding) for finding in pair):
        return NoRatio.ZERO_IN_GAP
    return next((finding.missing for finding in pair if finding.missing), NoRatio.NO_COMMON_SEED)


def averages(claim: Claim, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield one finding for each comparison of the claim, averaged over all cases or over those that differ only in
    the axes `claim.over`.

    The average is the geometric mean of the ratios or, as many papers have it, the ratio of the mean times, in which a
    long file counts for more. Cases differ in axes that are not compared, so a comparison is known by its two sides.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        case = tuple(pair for pair in finding.case if claim.over and pair[0] not in claim.over)
        key = (
            finding.metric,
            finding.relation,
            finding.band,
            finding.left.coordinates,
            finding.right.coordinates,
            case,
        )
        groups.setdefault(key, []).append(replace(finding, case=case))
    for group in groups.values():
        yield _average(group, in_time=claim.average == "time")


def _average(group: Sequence[Finding], *, in_time: bool) -> Finding:
    """Return the average of findings that make the same comparison in different cases."""
    first = group[0]
    without = [finding for finding in group if finding.ratio is None]
    left, right = first.left, first.right
    single = None if without else ratio([(finding.left.numbers, finding.right.numbers) for finding in group])
    average = single
    if len(group) > 1:
        has_means = in_time and not without
        left = _mean_side([finding.left for finding in group], has_means)
        right = _mean_side([finding.right for finding in group], has_means)
        if has_means:
            average = ratio([(left.numbers, right.numbers)])
    return replace(
        first,
        left=left,
        right=right,
        ratio=average,
        missing=without[0].missing if without else None if average else NoRatio.NO_COMMON_SEED,
        printed_ratio=_mean_printed(group, in_time),
        geometric=single if in_time and len(group) > 1 else None,
    )


def _mean_printed(group: Sequence[Finding], in_time: bool) -> float | None:
    """Return the same average of the paper's figures; None if one of them is missing or invalid."""
    ratios = [finding.printed_ratio for finding in group if finding.printed_ratio is not None]
    if len(ratios) < len(group):
        return None
    if not in_time:
        return geometric_mean(ratios)
    left = fmean(finding.left.printed.value for finding in group if finding.left.printed)
    right = fmean(finding.right.printed.value for finding in group if finding.right.printed)
    return quotient(left, right)


def _mean_side(sides: Sequence[Side], in_time: bool) -> Side:
    """Return several sides as one. It has the mean times by seed if `in_time`, and no numbers in a mean of ratios. It
    has the paper's figure if that is the same for all.
    """
    same = all(side.printed == sides[0].printed for side in sides)
    means = mean_by_seed([side.numbers for side in sides]) if in_time else {}
    parts = tuple(zip(sides, _shares(sides, in_time), strict=True))
    return Side(None, sides[0].coordinates, means, sides[0].printed if same else None, parts)


def _shares(sides: Sequence[Side], in_time: bool) -> Sequence[float]:
    """Return the exponent with which the mean grows with each side: equal in a geometric mean; in a mean of times the
    side's share of their sum.
    """
    times = [side.spread.median for side in sides if side.spread] if in_time else []
    total = math.fsum(times)
    return [time / total for time in times] if total else [1 / len(sides)] * len(sides)
