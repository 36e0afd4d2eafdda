# SPDX-License-Identifier: Apache-2.0
"""The results of a study as plain values: what was planned, measured and missing, and the bytes that each cell moved.

Nothing here needs pandas. Must not know how results were made or where they are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Any

from flashbed.analysis.ratio import Spread, spread
from flashbed.guest_output.assessment import Status
from flashbed.guest_output.limit import REACHED_PERCENT, SWALLOWED_BELOW, Direction, direction_of, reached
from flashbed.result.columns import Combination, ResultRow
from flashbed.result.metrics import METRICS

JointValue = tuple[str, ...]
"""One value for each axis of a joint axis, in their order."""


@dataclass(frozen=True)
class JointAxis:
    """The axes that a question compares as one. Usually it is a single axis. The values are combinations of those of
    its axes.
    """

    axes: tuple[str, ...]
    values: tuple[JointValue, ...]

    def value_in(self, coordinates: Mapping[str, str]) -> JointValue:
        """Return the value that a cell has."""
        return tuple(coordinates[axis] for axis in self.axes)

    def coordinates(self, value: JointValue) -> dict[str, str]:
        """Return a value by axis."""
        return dict(zip(self.axes, value, strict=True))


@dataclass(frozen=True)
class Results:
    """All repetitions of a study in its order. A repetition that was planned and has no result is there, as missing."""

    axes: Mapping[str, Sequence[str]]
    repetitions: Sequence[ResultRow]
    metrics: Sequence[str]

    def combinations(self, where: Mapping[str, Collection[str]] | None = None) -> Iterator[Combination]:
        """Yield the cells in the order of the study; with `where`, only those with one of the given values on each
        axis.
        """
        places = [(list(self.axes).index(axis), values) for axis, values in (where or {}).items()]
        for combination in dict.fromkeys(repetition.combination for repetition in self.repetitions):
            if all(combination[position] in values for position, values in places):
                yield combination

    def coordinates(self, combination: Combination) -> dict[str, str]:
        """Return a cell's value by axis."""
        return dict(zip(self.axes, combination, strict=True))

    def numbers(self, metric: str) -> dict[Combination, dict[int, float]]:
        """Return a metric by cell and seed; a cell without a number is absent."""
        numbers: dict[Combination, dict[int, float]] = {}
        for repetition in self.repetitions:
            if repetition.is_measured and metric in repetition.metrics:
                numbers.setdefault(repetition.combination, {})[repetition.seed] = repetition.metrics[metric]
        return numbers

    @cached_property
    def _spreads(self) -> dict[str, Mapping[Combination, Spread]]:
        return {}

    def spreads(self, metric: str) -> Mapping[Combination, Spread]:
        """Return the spread of a metric over the seeds of each cell; a cell without a number is absent."""
        if metric not in self._spreads:
            numbers = self.numbers(metric)
            self._spreads[metric] = {cell: spread(list(values.values())) for cell, values in numbers.items()}
        return self._spreads[metric]

    @cached_property
    def limits(self) -> dict[Combination, str]:
        """Return what limits each cell: the limit of most of its seeds. A cell of which nothing tells is absent."""
        limits: dict[Combination, Counter[str]] = {}
        for repetition in self.repetitions:
            if repetition.is_measured and repetition.limit:
                limits.setdefault(repetition.combination, Counter())[repetition.limit] += 1
        return {cell: counted.most_common(1)[0][0] for cell, counted in limits.items()}

    def only(self, where: Mapping[str, Collection[str]], keep: Collection[str] = ()) -> Results:
        """Return the cells with these values. Axes with a single value left are dropped, except those in `keep`."""
        cells = set(self.combinations(where))
        left = [r for r in self.repetitions if r.combination in cells]
        axes = {
            axis: [value for value in values if any(r.combination[place] == value for r in left)]
            for place, (axis, values) in enumerate(self.axes.items())
        }
        places = [place for place, axis in enumerate(axes) if len(axes[axis]) > 1 or axis in keep]
        names = [axis for axis in axes if len(axes[axis]) > 1 or axis in keep]
        kept = [replace(r, combination=tuple(r.combination[place] for place in places)) for r in left]
        return Results({name: axes[name] for name in names}, kept, self.metrics)

    def joint_axis(self, names: Sequence[str]) -> JointAxis:
        """Return the axes `names` as one: a single axis with its values in order, several with the combinations that
        the cells have.
        """
        if len(names) == 1:
            return JointAxis(tuple(names), tuple((value,) for value in self.axes[names[0]]))
        cells = map(self.coordinates, self.combinations())
        return JointAxis(tuple(names), tuple(dict.fromkeys(tuple(cell[name] for name in names) for cell in cells)))

    def outcomes(self) -> dict[Status, int]:
        """Return how many repetitions ended in each way: measured first, missing last."""
        counts = {Status.MEASURED: 0}
        for repetition in self.repetitions:
            counts[repetition.outcome] = counts.get(repetition.outcome, 0) + 1
        if Status.MISSING in counts:
            counts[Status.MISSING] = counts.pop(Status.MISSING)
        return counts

    def not_measured(self) -> list[ResultRow]:
        """Return the repetitions without a result, including missing ones."""
        return [repetition for repetition in self.repetitions if not repetition.is_measured]


def results_of(
    axes: Mapping[str, Sequence[object]],
    rows: Iterable[ResultRow],
    planned: Iterable[tuple[Combination, int]] = (),
) -> Results:
    """Return the results of rows in any order. `planned` names each (combination, seed) that there should be."""
    names = {axis: [str(value) for value in values] for axis, values in axes.items()}
    by_place = {(row.combination, row.seed): row for row in rows}
    metrics = dict.fromkeys(name for row in by_place.values() for name in row.metrics)
    for combination, seed in planned:
        by_place.setdefault((combination, seed), ResultRow(combination, seed, Status.MISSING, "was not run"))

    places = {axis: {value: place for place, value in enumerate(values)} for axis, values in names.items()}

    def in_order(repetition: ResultRow) -> tuple[Any, ...]:
        """Return a key in the study's order of values; values that the study does not name come last."""
        pairs = zip(names, repetition.combination, strict=True)
        return (*((places[axis].get(value, len(places[axis])), value) for axis, value in pairs), repetition.seed)

    repetitions = sorted(by_place.values(), key=in_order)
    for position, (axis, values) in enumerate(names.items()):
        seen = dict.fromkeys(repetition.combination[position] for repetition in repetitions)
        names[axis] = list(dict.fromkeys([*values, *seen]))
    known = [name for name in METRICS if name in metrics]
    return Results(names, repetitions, [*known, *(name for name in metrics if name not in known)])


@dataclass(frozen=True)
class Flow:
    """Bytes of one cell, medians over its seeds: requested by the workload, and moved by the medium. A write that the
    page cache keeps looks like a fast medium; the flow shows it.
    """

    combination: Combination
    direction: Direction
    requested_bytes: float
    read_bytes: float
    written_bytes: float
    of_phases: float | None = None
    """The share of requested bytes that reached the medium in the phases of a tool; None for a tool without phases. The
    other fields also count what comes between the phases, such as the scan of a mount.
    """

    @property
    def reached(self) -> float:
        """Return the bytes that passed between the board and the medium for each byte that the workload requested."""
        if self.of_phases is not None:
            return self.of_phases
        return reached(self.requested_bytes, self.read_bytes, self.written_bytes, self.direction)

    @property
    def swallowed(self) -> bool:
        """True if memory kept most of the requested bytes from the medium."""
        return self.reached < SWALLOWED_BELOW

    @property
    def percent(self) -> str:
        """Return a text such as "12 %". Less than half is never rounded to half."""
        if self.swallowed and round(self.reached * 100) >= SWALLOWED_BELOW * 100:
            return f"just under {SWALLOWED_BELOW * 100:.0f} %"
        return f"{self.reached * 100:,.0f} %"


def flows(results: Results, fixed: Mapping[str, str]) -> list[Flow]:
    """Return the flow of each cell that has the metrics for it, in the order of the study; `fixed` holds the parameters
    on no axis.
    """
    by_cell: dict[Combination, list[tuple[float, float, float]]] = {}
    shares: dict[Combination, list[float]] = {}
    for repetition in results.repetitions:
        numbers = repetition.metrics
        requested = numbers.get("requested_bytes", 0.0)
        is_noted = "medium_read_bytes" in numbers and "medium_written_bytes" in numbers
        if repetition.is_measured and requested > 0 and is_noted:
            row = (requested, numbers["medium_read_bytes"], numbers["medium_written_bytes"])
            by_cell.setdefault(repetition.combination, []).append(row)
            if REACHED_PERCENT in numbers:
                shares.setdefault(repetition.combination, []).append(numbers[REACHED_PERCENT] / 100.0)
    return [_flow(results, combination, rows, shares.get(combination), fixed) for combination, rows in by_cell.items()]


def _flow(
    results: Results,
    combination: Combination,
    rows: Sequence[tuple[float, float, float]],
    shares: Sequence[float] | None,
    fixed: Mapping[str, str],
) -> Flow:
    """Return the medians of a cell's seeds."""
    direction = direction_of({**fixed, **results.coordinates(combination)})
    requested, read, written = map(median, zip(*rows, strict=True))
    return Flow(combination, direction, requested, read, written, median(shares) if shares else None)
