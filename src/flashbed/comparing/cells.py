# SPDX-License-Identifier: Apache-2.0
"""The cells of two sets side by side: which are the same to the last bit, and what differs in the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from flashbed.comparing import chance
from flashbed.comparing.cause import Cause, cause
from flashbed.comparing.chance import Change
from flashbed.comparing.result_set import CHECK, CLEAN, DURABLE, OUTCOME, Place, ResultSet, StoredRepetition
from flashbed.guest_output import durability
from flashbed.guest_output.assessment import Assessment
from flashbed.result.metrics import CPU_NS, Better, Metric

CPU_TIME = "cpu_time"
"""The figure that is made of what was counted: CPU time while measured."""

BUILT_IN = {CPU_TIME: Metric(CPU_TIME, "CPU time", "ns", "lower")}

REASONED = ("steady", "fresh", DURABLE)
"""What is told as a verdict, a colon and its reason."""

CALLED = {CHECK: "checker", "limit": "limited by", "mounted": "mounted as"}
"""What people read for the names of what is told beside numbers, where those alone say too little."""


@dataclass(frozen=True)
class ComparedCell:
    """A cell that both sets have. `changes` has the figures that differ, `told` what else does: a sentence each."""

    place: Place
    seeds: tuple[int, ...]
    changes: Mapping[str, Change]
    told: tuple[str, ...]
    cause: Cause | None
    figures: frozenset[str]
    """Those that both have."""
    lost: tuple[str, ...] = ()
    """What was right in A and is not in B, a sentence each: no limit allows that."""
    neither: int = 0
    """Seeds that were measured on neither side: nothing is known of them."""
    reworded: tuple[str, ...] = ()
    """Verdicts that are the same on both sides and have another reason, a sentence each."""

    @property
    def is_same(self) -> bool:
        """To the last bit, as far as it was measured."""
        return not self.changes and not self.told and not self.reworded


@dataclass(frozen=True)
class Compared:
    """Two sets, cell by cell; and the cells, and seeds of cells, that one of them lacks."""

    a: ResultSet
    b: ResultSet
    cells: tuple[ComparedCell, ...]
    only_a: int
    only_b: int

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """The figures of both sets, by name."""
        return {**self.a.metrics, **self.b.metrics, **BUILT_IN}

    @cached_property
    def figures(self) -> frozenset[str]:
        """Those that any cell has in both sets."""
        return frozenset().union(*(cell.figures for cell in self.cells))

    def better(self, figure: str) -> Better:
        """Return the better direction of a figure; None also for an unknown figure."""
        return self.metrics[figure].better if figure in self.metrics else None

    def title(self, figure: str) -> str:
        """Return the title of a figure; its name if it is unknown."""
        return self.metrics[figure].title if figure in self.metrics else figure


def compare(a: ResultSet, b: ResultSet) -> Compared:
    """Both sets' cells by what they have in common."""
    mine, its = _by_common(a, b), _by_common(b, a)
    seeds_a, seeds_b = ({(place, s) for place, cell in side.items() for s in cell} for side in (mine, its))
    shared = [place for place in mine if place in its and mine[place].keys() & its[place].keys()]
    cells = tuple(_cell(place, mine[place], its[place]) for place in shared)
    return Compared(a, b, cells, len(seeds_a - seeds_b), len(seeds_b - seeds_a))


def _by_common(mine: ResultSet, its: ResultSet) -> dict[Place, Mapping[int, StoredRepetition]]:
    """By the axes of both: what is an axis in one set and fixed in the other is a part of the cell's place."""
    axes = sorted({axis for side in (mine, its) for place in side.cells for axis, _ in place})

    def common(place: Place) -> Place:
        said = {**mine.fixed, **dict(place)}
        return tuple((axis, said[axis]) for axis in axes if axis in said)

    return {common(place): cell for place, cell in mine.cells.items()}


def _cell(place: Place, mine: Mapping[int, StoredRepetition], its: Mapping[int, StoredRepetition]) -> ComparedCell:
    seeds = tuple(sorted(mine.keys() & its.keys()))
    differing = list(_told(seeds, mine, its))
    told, reworded = (tuple(text for alike, text in differing if alike == wanted) for wanted in (False, True))
    measured = [seed for seed in seeds if mine[seed].measured and its[seed].measured]
    before, after = ({seed: _figures(side[seed]) for seed in measured} for side in (mine, its))
    names = {name for seed in measured for name in before[seed].keys() & after[seed].keys()}
    changes = {}
    for name in sorted(names):
        change = chance.change(*({s: side[s][name] for s in measured if name in side[s]} for side in (before, after)))
        if change is not None:
            changes[name] = change
    alone = [name for s in measured for name in before[s].keys() ^ after[s].keys()]
    told += tuple(f"{name}: only one of A and B has it" for name in sorted(set(alone)) if name not in changes)
    differs = bool(changes or told or reworded)
    why = cause((mine[seed].counted, its[seed].counted) for seed in measured) if differs and measured else None
    lost = tuple(_lost(seeds, mine, its))
    neither = sum(not mine[seed].measured and not its[seed].measured for seed in seeds)
    return ComparedCell(place, seeds, changes, told, why, frozenset(names), lost, neither, reworded)


def _figures(repetition: StoredRepetition) -> dict[str, float]:
    built_in = {CPU_TIME: float(repetition.counted[CPU_NS])} if CPU_NS in repetition.counted else {}
    return {**repetition.figures, **built_in}


def _told(
    seeds: tuple[int, ...], mine: Mapping[int, StoredRepetition], its: Mapping[int, StoredRepetition]
) -> Iterator[tuple[bool, str]]:
    """Words that differ, each with whether only the reason does: the verdict before it is the same with each seed."""
    for name in mine[seeds[0]].told:
        said = {seed: (mine[seed].told[name], its[seed].told[name]) for seed in seeds}
        other = [seed for seed, (was, now) in said.items() if was != now]
        if other:
            alike = name in REASONED and all(_verdict(was) == _verdict(now) for was, now in said.values())
            was, now = said[other[0]]
            yield (
                alike,
                f"{CALLED.get(name, name)}: A says {_said(was, name)}, B says {_said(now, name)} ({_seeds(other)})",
            )


def _verdict(said: str | None) -> str:
    return Assessment.parsed(said or "").state


def _lost(
    seeds: tuple[int, ...], mine: Mapping[int, StoredRepetition], its: Mapping[int, StoredRepetition]
) -> Iterator[str]:
    """A kernel that crashes, damages a file system or loses commits has no figure that could be worse."""
    if failed := [seed for seed in seeds if mine[seed].measured and not its[seed].measured]:
        yield f"measured in A, and in B {its[failed[0]].told[OUTCOME]} with {_seeds(failed)}"
    if damaged := [seed for seed in seeds if mine[seed].told[CHECK] == CLEAN and its[seed].told[CHECK]]:
        told = str(its[damaged[0]].told[CHECK]).splitlines()[0]
        yield f"the checker found nothing in A, and in B with {_seeds(damaged)}: {told}"
    undone = [seed for seed in seeds if mine[seed].told[DURABLE] == durability.DURABLE and _lost_commits(its[seed])]
    if undone:
        yield f"commits of the load were lost in B with {_seeds(undone)}: {its[undone[0]].told[DURABLE]}"


def _lost_commits(repetition: StoredRepetition) -> bool:
    return _verdict(repetition.told[DURABLE]) == durability.NOT_DURABLE


def _seeds(some: list[int]) -> str:
    return f"seed{'s' * (len(some) > 1)} {', '.join(map(str, some))}"


def _said(value: str | None, name: str) -> str:
    if name == CHECK and not value:
        return "not checked" if value is None else "clean"
    return "; ".join(value.splitlines()) if value else "nothing"
