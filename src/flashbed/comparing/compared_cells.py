# SPDX-License-Identifier: Apache-2.0
"""Compare the cells of two sets: which are the same to the last bit, and what differs in the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from flashbed.comparing.change import Cause, Change, cause, change_of
from flashbed.comparing.result_set import (
    CHECK_COLUMN,
    CLEAN,
    DURABLE_COLUMN,
    OUTCOME_COLUMN,
    Place,
    ResultSet,
    StoredRepetition,
)
from flashbed.guest_output.assessment import State
from flashbed.result.metrics import CPU_NS, Better, Metric

CPU_TIME = "cpu_time"
"""The figure that is made of a counter: CPU time during the measurement."""

COUNTER_METRICS = {CPU_TIME: Metric(CPU_TIME, "CPU time", "ns", "lower")}


@dataclass(frozen=True)
class TextChange:
    """A column of text, or an assessment, that differs; `a` and `b` are the texts of the first of the seeds."""

    column: str
    seeds: tuple[int, ...]
    a: str | None
    b: str | None


class Defect(Enum):
    """What B has and A has not, and no figure shows."""

    NO_RESULT = "no result"
    DAMAGED = "damaged"
    """The file system's checker found damage."""
    COMMITS_LOST = "commits lost"


@dataclass(frozen=True)
class NewDefect:
    """A defect of a cell in B with these seeds. No limit allows any."""

    defect: Defect
    seeds: tuple[int, ...]
    shown: str
    """The outcome, the checker's output or the assessment of the first of the seeds."""


@dataclass(frozen=True)
class ComparedCell:
    """A cell that both sets have."""

    place: Place
    seeds: tuple[int, ...]
    changes: Mapping[str, Change]
    """The figures that differ."""
    other_texts: tuple[TextChange, ...]
    """The texts that differ, and the assessments with another state."""
    cause: Cause | None
    figures: frozenset[str]
    """The figures that both sets have."""
    lone_figures: tuple[str, ...] = ()
    """The figures that only one of A and B has with some seed, and that are not among `changes`."""
    new_defects: tuple[NewDefect, ...] = ()
    neither: int = 0
    """The number of seeds that were measured on neither side."""
    reworded: tuple[TextChange, ...] = ()
    """The assessments with the same state on both sides and another reason."""

    @property
    def is_same(self) -> bool:
        """True if all that was measured is the same to the last bit."""
        return not (self.changes or self.other_texts or self.lone_figures or self.reworded)


@dataclass(frozen=True)
class Compared:
    """Two sets, cell by cell, and the number of repetitions that only one of them has."""

    a: ResultSet
    b: ResultSet
    cells: tuple[ComparedCell, ...]
    only_a: int
    only_b: int

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """Return the metrics of both sets, by name."""
        return {**self.a.metrics, **self.b.metrics, **COUNTER_METRICS}

    @cached_property
    def figures(self) -> frozenset[str]:
        """Return the figures that any cell has in both sets."""
        return frozenset().union(*(cell.figures for cell in self.cells))

    def better(self, figure: str) -> Better:
        """Return the better direction of a figure; None also for an unknown figure."""
        return self.metrics[figure].better if figure in self.metrics else None

    def title(self, figure: str) -> str:
        """Return the title of a figure; its name if it is unknown."""
        return self.metrics[figure].title if figure in self.metrics else figure


def compare_sets(a: ResultSet, b: ResultSet) -> Compared:
    """Compare two sets. Cells match if the axes that both sets know have the same values."""
    of_a, of_b = _by_common(a, b), _by_common(b, a)
    seeds_a, seeds_b = ({(place, s) for place, cell in side.items() for s in cell} for side in (of_a, of_b))
    shared = [place for place in of_a if place in of_b and of_a[place].keys() & of_b[place].keys()]
    cells = tuple(_cell(place, of_a[place], of_b[place]) for place in shared)
    return Compared(a, b, cells, len(seeds_a - seeds_b), len(seeds_b - seeds_a))


def _by_common(one_set: ResultSet, other_set: ResultSet) -> dict[Place, Mapping[int, StoredRepetition]]:
    """Return the cells of `one_set` by their places on the axes of both sets. An axis of one set may be
    fixed in the other; it is a part of the place.
    """
    axes = sorted({axis for side in (one_set, other_set) for place in side.cells for axis, _ in place})

    def common(place: Place) -> Place:
        values = {**one_set.fixed, **dict(place)}
        return tuple((axis, values[axis]) for axis in axes if axis in values)

    return {common(place): cell for place, cell in one_set.cells.items()}


def _cell(place: Place, of_a: Mapping[int, StoredRepetition], of_b: Mapping[int, StoredRepetition]) -> ComparedCell:
    seeds = tuple(sorted(of_a.keys() & of_b.keys()))
    states, reworded = _assessments(seeds, of_a, of_b)
    other_texts = (*_texts(seeds, of_a, of_b), *states)
    measured = [seed for seed in seeds if of_a[seed].is_measured and of_b[seed].is_measured]
    before, after = ({seed: _figures(side[seed]) for seed in measured} for side in (of_a, of_b))
    names = {name for seed in measured for name in before[seed].keys() & after[seed].keys()}
    changes = {}
    for name in sorted(names):
        change = change_of(*({s: side[s][name] for s in measured if name in side[s]} for side in (before, after)))
        if change is not None:
            changes[name] = change
    alone = {name for s in measured for name in before[s].keys() ^ after[s].keys()}
    compared = ComparedCell(
        place,
        seeds,
        changes,
        other_texts,
        cause=None,
        figures=frozenset(names),
        lone_figures=tuple(sorted(alone - changes.keys())),
        new_defects=tuple(_new_defects(seeds, of_a, of_b)),
        neither=sum(not of_a[seed].is_measured and not of_b[seed].is_measured for seed in seeds),
        reworded=reworded,
    )
    if compared.is_same or not measured:
        return compared
    return replace(compared, cause=cause((of_a[seed].counted, of_b[seed].counted) for seed in measured))


def _figures(repetition: StoredRepetition) -> dict[str, float]:
    built_in = {CPU_TIME: float(repetition.counted[CPU_NS])} if CPU_NS in repetition.counted else {}
    return {**repetition.metrics, **built_in}


def _texts(
    seeds: tuple[int, ...], of_a: Mapping[int, StoredRepetition], of_b: Mapping[int, StoredRepetition]
) -> Iterator[TextChange]:
    """Yield each column of text that differs."""
    for name in of_a[seeds[0]].texts:
        pairs = {seed: (of_a[seed].texts[name], of_b[seed].texts[name]) for seed in seeds}
        if other := tuple(seed for seed, (was, now) in pairs.items() if was != now):
            yield TextChange(name, other, *pairs[other[0]])


def _assessments(
    seeds: tuple[int, ...], of_a: Mapping[int, StoredRepetition], of_b: Mapping[int, StoredRepetition]
) -> tuple[tuple[TextChange, ...], tuple[TextChange, ...]]:
    """Return the assessments with another state, and those of which only the reason differs."""
    states: list[TextChange] = []
    reworded: list[TextChange] = []
    for name in of_a[seeds[0]].assessments:
        pairs = {seed: (of_a[seed].assessments[name], of_b[seed].assessments[name]) for seed in seeds}
        if other := tuple(seed for seed, (was, now) in pairs.items() if was != now):
            alike = all(was.state == now.state for was, now in pairs.values())
            was, now = pairs[other[0]]
            (reworded if alike else states).append(TextChange(name, other, was.text, now.text))
    return tuple(states), tuple(reworded)


def _new_defects(
    seeds: tuple[int, ...], of_a: Mapping[int, StoredRepetition], of_b: Mapping[int, StoredRepetition]
) -> Iterator[NewDefect]:
    """Yield each failure, damaged file system or lost commit that B has and A has not."""
    if failed := tuple(seed for seed in seeds if of_a[seed].is_measured and not of_b[seed].is_measured):
        yield NewDefect(Defect.NO_RESULT, failed, str(of_b[failed[0]].texts[OUTCOME_COLUMN]))
    if damaged := tuple(
        seed for seed in seeds if of_a[seed].texts[CHECK_COLUMN] == CLEAN and of_b[seed].texts[CHECK_COLUMN]
    ):
        yield NewDefect(Defect.DAMAGED, damaged, str(of_b[damaged[0]].texts[CHECK_COLUMN]))
    durable = {seed: (of_a[seed].assessments[DURABLE_COLUMN], of_b[seed].assessments[DURABLE_COLUMN]) for seed in seeds}
    states = (State.DURABLE, State.NOT_DURABLE)
    if undone := tuple(seed for seed, (was, now) in durable.items() if (was.state, now.state) == states):
        yield NewDefect(Defect.COMMITS_LOST, undone, durable[undone[0]][1].text)
