# SPDX-License-Identifier: Apache-2.0
"""How a claim is read: the comparisons that it makes among the cells of a study, each with its band.

Cells that differ in nothing that the claim compares make a case. Where the life of a medium is not known yet, its
bounds may decide: "at most 0.44 years" refutes seven. Knows no words for people but those for "at least" and "at most",
and gives no verdict on the claim as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Literal

from flashbed.analysis.findings import NO_SEED, Case, Finding, Side
from flashbed.analysis.ratio import Numbers, quotient, ratio
from flashbed.analysis.results import Combination, Results
from flashbed.analysis.words import metric_of, scale_of
from flashbed.common.units import by_size
from flashbed.guest_output.wear import BOUNDED_BY
from flashbed.study.format import Claim, Printed, Where
from flashbed.study.relation import CLEAR, Band, band, each

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


def _open(known: Bounds, metric: str) -> str:
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
        return next(iter(ends), _open(known, metric) if known else f"it has no {metric}")
    if any(number < 0 for side in sides for number in side.numbers.values()):
        return "a number below zero has no ratio"
    return NO_SEED
