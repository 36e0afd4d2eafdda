# SPDX-License-Identifier: Apache-2.0
"""Which value of one axis is best, by how much, and whether the seeds agree.

A group holds what a study wants kept apart (say, one pattern); its settings are the combinations of all other axes
(say,
request sizes), over which ratios are averaged. Knows results and numbers; the words are somebody else's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from flashbed.analysis.results import Combination, Results
from flashbed.analysis.spread import Spread

CLEAR_FACTOR = 1.01
"""A lead of less than 1 % is called none: nobody should choose by it, and with a single seed nothing else guards
against it.
"""

Setting = tuple[tuple[str, str], ...]
"""Axis and value, for each axis that is neither compared nor kept apart."""


@dataclass(frozen=True)
class Standing:
    """How one compared value did in a group: geometric means over the settings in which all were measured."""

    value: str
    score: float
    low: float
    high: float


@dataclass(frozen=True)
class Lead:
    """The best value against one other; factors are above 1 where the best is ahead."""

    over: str
    factor: float
    lowest: float
    highest: float
    clear: bool
    behind_at: Sequence[Setting]


@dataclass(frozen=True)
class Group:
    """The comparison for one combination of the axes kept apart.

    `settings` are those compared, in which each value has a result; `gaps` are why others could not be; `left_out` are
    values that have no result in any setting that the others have.
    """

    at: Setting
    standings: Sequence[Standing]
    leads: Sequence[Lead]
    settings: Sequence[Setting]
    settings_planned: int
    gaps: Sequence[tuple[str, Setting]]
    left_out: Sequence[str]
    seeds: int

    @property
    def best(self) -> str | None:
        return self.standings[0].value if self.standings else None

    @property
    def winner(self) -> str | None:
        """The best value, if it is clearly ahead of each other one."""
        return self.best if self.leads and all(lead.clear for lead in self.leads) else None

    @property
    def ties(self) -> list[str]:
        """The values that the seeds do not tell from the best."""
        return [lead.over for lead in self.leads if not lead.clear]


@dataclass(frozen=True)
class Comparison:
    """The study's question, answered group by group."""

    compare: str
    by: Sequence[str]
    metric: str
    groups: Sequence[Group]


def compare(results: Results, axis: str, by: Sequence[str], metric: str, higher_is_better: bool) -> Comparison:
    """Compare the values of an axis in each group; groups come in the study's order."""
    spreads = results.spreads(metric)
    planned = list(results.combinations())
    positions = {name: position for position, name in enumerate(results.axes)}
    rest = [name for name in results.axes if name != axis and name not in by]

    def coordinates(combination: Combination, names: Iterable[str]) -> Setting:
        return tuple((name, combination[positions[name]]) for name in names)

    groups = []
    for at in product(*(results.axes[name] for name in by)):
        here = tuple(zip(by, at, strict=True))
        table: dict[str, dict[Setting, Spread]] = {}
        settings: dict[Setting, None] = {}
        for combination in planned:
            if coordinates(combination, by) != here:
                continue
            setting = coordinates(combination, rest)
            settings[setting] = None
            cells = table.setdefault(combination[positions[axis]], {})
            if combination in spreads and spreads[combination].minimum > 0:  # a ratio needs positive numbers
                cells[setting] = spreads[combination]
        if table:
            in_order = {value: table[value] for value in results.axes[axis] if value in table}
            groups.append(_group(here, in_order, list(settings), higher_is_better))
    return Comparison(axis, tuple(by), metric, groups)


def _group(
    at: Setting, table: Mapping[str, Mapping[Setting, Spread]], settings: Sequence[Setting], higher_is_better: bool
) -> Group:
    values, common = _comparable(table, settings)
    standings = [_standing(value, [table[value][setting] for setting in common]) for value in values]
    standings.sort(
        key=lambda standing: standing.score, reverse=higher_is_better
    )  # stable: equals keep the study's order
    leads = [_lead(standings[0], other, table, common, higher_is_better) for other in standings[1:]]
    seeds = min((table[value][setting].n for value in values for setting in common), default=0)
    left_out = [value for value in table if value not in values]
    gaps = [(value, setting) for setting in settings for value in values if setting not in table[value]]
    return Group(at, standings, leads, common, len(settings), gaps, left_out, seeds)


def _comparable(
    table: Mapping[str, Mapping[Setting, Spread]], settings: Sequence[Setting]
) -> tuple[list[str], list[Setting]]:
    """The values to compare, and the settings in which each of them was measured.

    If no setting has them all, the value measured in the fewest settings is left out, until one does.
    """
    values = [value for value in table if table[value]]
    while values:
        common = [setting for setting in settings if all(setting in table[value] for value in values)]
        if common:
            return values, common
        fewest = min(len(table[value]) for value in values)
        values.remove([value for value in values if len(table[value]) == fewest][-1])
    return [], []


def _standing(value: str, spreads: Sequence[Spread]) -> Standing:
    return Standing(
        value,
        geometric_mean([spread.median for spread in spreads]),
        geometric_mean([spread.low for spread in spreads]),
        geometric_mean([spread.high for spread in spreads]),
    )


def _lead(
    best: Standing,
    other: Standing,
    table: Mapping[str, Mapping[Setting, Spread]],
    settings: Sequence[Setting],
    higher_is_better: bool,
) -> Lead:
    ratios = [table[best.value][setting].median / table[other.value][setting].median for setting in settings]
    if not higher_is_better:
        ratios = [1 / ratio for ratio in ratios]
    apart = best.low > other.high if higher_is_better else best.high < other.low
    factor = geometric_mean(ratios)
    behind = [setting for setting, ratio in zip(settings, ratios, strict=True) if ratio < 1]
    return Lead(other.value, factor, min(ratios), max(ratios), apart and factor >= CLEAR_FACTOR, behind)


def geometric_mean(numbers: Sequence[float]) -> float:
    """Of positive numbers; one number comes back untouched."""
    if len(numbers) == 1:
        return numbers[0]
    return math.exp(math.fsum(map(math.log, numbers)) / len(numbers))
