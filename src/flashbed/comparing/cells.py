# SPDX-License-Identifier: Apache-2.0
"""Compare the cells of two sets: which are the same to the last bit, and what differs in the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from flashbed.guest_output import durability
from flashbed.result.metrics import CPU_NS, Better, Metric

CPU_TIME = "cpu_time"
"""The figure that is made of a counter: CPU time during the measurement."""

COUNTER_METRICS = {CPU_TIME: Metric(CPU_TIME, "CPU time", "ns", "lower")}

CALLED = {CHECK_COLUMN: "checker", "limit": "limited by", "mounted": "mounted as"}
"""Names of columns for people, where the column's own name says too little."""


@dataclass(frozen=True)
class ComparedCell:
    """A cell that both sets have."""

    place: Place
    seeds: tuple[int, ...]
    changes: Mapping[str, Change]
    """The figures that differ."""
    other_texts: tuple[str, ...]
    """A sentence for each other difference."""
    cause: Cause | None
    figures: frozenset[str]
    """The figures that both sets have."""
    lost: tuple[str, ...] = ()
    """A sentence for each thing that was right in A and is not in B. No limit allows that."""
    neither: int = 0
    """The number of seeds that were measured on neither side."""
    reworded: tuple[str, ...] = ()
    """A sentence for each assessment with the same state on both sides and another reason."""

    @property
    def is_same(self) -> bool:
        """True if all that was measured is the same to the last bit."""
        return not self.changes and not self.other_texts and not self.reworded


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


def compare(a: ResultSet, b: ResultSet) -> Compared:
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
    differing = list(_other_texts(seeds, of_a, of_b))
    other_texts, reworded = (tuple(text for alike, text in differing if alike == wanted) for wanted in (False, True))
    measured = [seed for seed in seeds if of_a[seed].measured and of_b[seed].measured]
    before, after = ({seed: _figures(side[seed]) for seed in measured} for side in (of_a, of_b))
    names = {name for seed in measured for name in before[seed].keys() & after[seed].keys()}
    changes = {}
    for name in sorted(names):
        change = change_of(*({s: side[s][name] for s in measured if name in side[s]} for side in (before, after)))
        if change is not None:
            changes[name] = change
    alone = [name for s in measured for name in before[s].keys() ^ after[s].keys()]
    other_texts += tuple(f"{name}: only one of A and B has it" for name in sorted(set(alone)) if name not in changes)
    differs = bool(changes or other_texts or reworded)
    why = cause((of_a[seed].counted, of_b[seed].counted) for seed in measured) if differs and measured else None
    lost = tuple(_lost(seeds, of_a, of_b))
    neither = sum(not of_a[seed].measured and not of_b[seed].measured for seed in seeds)
    return ComparedCell(place, seeds, changes, other_texts, why, frozenset(names), lost, neither, reworded)


def _figures(repetition: StoredRepetition) -> dict[str, float]:
    built_in = {CPU_TIME: float(repetition.counted[CPU_NS])} if CPU_NS in repetition.counted else {}
    return {**repetition.figures, **built_in}


def _other_texts(
    seeds: tuple[int, ...], of_a: Mapping[int, StoredRepetition], of_b: Mapping[int, StoredRepetition]
) -> Iterator[tuple[bool, str]]:
    """Yield a sentence for each column that differs, and True if only the reason of an assessment differs."""
    for name in of_a[seeds[0]].texts:
        if other := [seed for seed in seeds if of_a[seed].texts[name] != of_b[seed].texts[name]]:
            yield False, _differs(name, other, *(_shown(side[other[0]].texts[name], name) for side in (of_a, of_b)))
    for name in of_a[seeds[0]].assessments:
        pairs = {seed: (of_a[seed].assessments[name], of_b[seed].assessments[name]) for seed in seeds}
        if other := [seed for seed, (was, now) in pairs.items() if was != now]:
            alike = all(was.state == now.state for was, now in pairs.values())
            yield alike, _differs(name, other, *(_shown(side.text, name) for side in pairs[other[0]]))


def _differs(name: str, seeds: list[int], of_a: str, of_b: str) -> str:
    return f"{CALLED.get(name, name)}: A says {of_a}, B says {of_b} ({_seeds(seeds)})"


def _lost(
    seeds: tuple[int, ...], of_a: Mapping[int, StoredRepetition], of_b: Mapping[int, StoredRepetition]
) -> Iterator[str]:
    """Yield a sentence for each failure, damaged file system or lost commit that B has and A has not. No figure shows
    these.
    """
    if failed := [seed for seed in seeds if of_a[seed].measured and not of_b[seed].measured]:
        yield f"measured in A, and in B {of_b[failed[0]].texts[OUTCOME_COLUMN]} with {_seeds(failed)}"
    if damaged := [
        seed for seed in seeds if of_a[seed].texts[CHECK_COLUMN] == CLEAN and of_b[seed].texts[CHECK_COLUMN]
    ]:
        report = str(of_b[damaged[0]].texts[CHECK_COLUMN]).splitlines()[0]
        yield f"the checker found nothing in A, and in B with {_seeds(damaged)}: {report}"
    durable = {seed: (of_a[seed].assessments[DURABLE_COLUMN], of_b[seed].assessments[DURABLE_COLUMN]) for seed in seeds}
    states = (durability.DURABLE, durability.NOT_DURABLE)
    if undone := [seed for seed, (was, now) in durable.items() if (was.state, now.state) == states]:
        yield f"commits of the load were lost in B with {_seeds(undone)}: {durable[undone[0]][1].text}"


def _seeds(some: list[int]) -> str:
    return f"seed{'s' * (len(some) > 1)} {', '.join(map(str, some))}"


def _shown(value: str | None, name: str) -> str:
    if name == CHECK_COLUMN and not value:
        return "not checked" if value is None else "clean"
    return "; ".join(value.splitlines()) if value else "nothing"
