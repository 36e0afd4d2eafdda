# SPDX-License-Identifier: Apache-2.0
"""Which value of one axis is best, by how much, and whether the seeds agree.

A group holds what a study wants kept apart (say, one pattern); its settings are the combinations of all other axes
(say, request sizes), over which ratios are averaged. A figure that does not decide (decisive.py) is compared with none.
Knows results and numbers; the words are somebody else's.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import median
from typing import Literal

from flashbed.analysis.decisive import Doubt
from flashbed.analysis.ratio import Numbers, geometric_mean, inverse, is_ahead, ratio
from flashbed.analysis.results import Combination, Results
from flashbed.analysis.spread import Spread

Setting = tuple[tuple[str, str], ...]
"""Axis and value, for each axis that is neither compared nor kept apart."""


@dataclass(frozen=True)
class Standing:
    """How one compared value did in a group: the geometric mean of its medians over the settings in which all were
    measured; and these.
    """

    value: str
    score: float
    medians: Sequence[float]

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 everywhere."""
        return not any(self.medians)

    @property
    def rank(self) -> tuple[int, float]:
        """Grows as the numbers do. A zero is below all else, however many times the others are more."""
        above = [number for number in self.medians if number]
        return -self.medians.count(0.0), geometric_mean(above) if above else 0.0


BELOW_ZERO = Doubt("below zero", "a difference came out below zero, and has no ratio")

Verdict = Literal["ahead", "depends", "even"]
"""Of the best value against another: ahead; ahead in some settings and behind in others; not told apart by seeds."""


@dataclass(frozen=True)
class Lead:
    """The best value against one other; factors are above 1 where the best is ahead.

    `whole` is the factor over all settings; `lowest` and `highest` are the medians of single settings. `ahead_at` and
    `behind_at` are the settings in which the seeds leave no doubt.
    """

    over: str
    whole: Spread
    lowest: float
    highest: float
    ahead_at: Sequence[Setting]
    behind_at: Sequence[Setting]
    zeros: Mapping[Setting, tuple[float, float]] = field(default_factory=dict)
    """Where one of the two is 0, and so no number of times the other: the medians of the best and of the other."""

    @property
    def is_endless(self) -> bool:
        """Whether a zero makes the ratio over all settings, so that it is no number to tell anybody."""
        return self.factor in (0.0, math.inf)

    @property
    def factor(self) -> float:
        return self.whole.median

    @property
    def verdict(self) -> Verdict:
        if self.behind_at:
            return "depends"
        return "ahead" if is_ahead(self.whole) else "even"


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
    doubts: Mapping[tuple[str, Setting], Doubt] = field(default_factory=dict)
    """By value and setting, why a figure that was measured decides nothing, or not the medium."""

    @property
    def best(self) -> str | None:
        return self.standings[0].value if self.standings else None

    @property
    def winner(self) -> str | None:
        """The best value, if it is ahead of each other one, behind none in any setting, and none is in doubt."""
        if self.in_doubt or not self.leads:
            return None
        return self.best if all(lead.verdict == "ahead" for lead in self.leads) else None

    @property
    def in_doubt(self) -> list[str]:
        """The values that are left out because their figures decide nothing: any of them may be the best."""
        barred = {value for (value, _), doubt in self.doubts.items() if doubt.bars}
        return [value for value in self.left_out if value in barred]

    @property
    def is_zero(self) -> bool:
        """Whether the best, and all that are not told apart from it, are 0 everywhere."""
        even = {lead.over for lead in self.leads_that_are("even")}
        among = [one for one in self.standings if one.value == self.best or one.value in even]
        return bool(among) and all(one.is_zero for one in among)

    @property
    def barred(self) -> list[Doubt]:
        """Why figures were not compared, in the order of the study."""
        return [doubt for doubt in self.doubts.values() if doubt.bars]

    @property
    def depends(self) -> bool:
        """Whether another value is ahead of the best in some of the settings."""
        return any(lead.verdict == "depends" for lead in self.leads)

    def leads_that_are(self, verdict: Verdict) -> list[Lead]:
        return [lead for lead in self.leads if lead.verdict == verdict]

    @property
    def telling_axes(self) -> list[str]:
        """The axes in which the settings differ."""
        columns = zip(*self.settings, strict=True) if self.settings else ()
        return [column[0][0] for column in columns if len(set(column)) > 1]


@dataclass(frozen=True)
class Comparison:
    """The study's question, answered group by group."""

    compare: str
    values: Sequence[str]
    """What is compared, in the study's order."""
    by: Sequence[str]
    metric: str
    groups: Sequence[Group]


def compare(
    results: Results,
    axis: str,
    by: Sequence[str],
    metric: str,
    higher_is_better: bool,
    doubts: Mapping[Combination, Doubt] | None = None,
) -> Comparison:
    """Compare the values of an axis in each group; groups come in the study's order. `doubts` is by cell."""
    doubts = doubts or {}
    numbers = results.numbers(metric)
    planned = list(results.combinations())
    positions = {name: position for position, name in enumerate(results.axes)}
    rest = [name for name in results.axes if name != axis and name not in by]

    def coordinates(combination: Combination, names: Iterable[str]) -> Setting:
        return tuple((name, combination[positions[name]]) for name in names)

    groups = []
    for at in product(*(results.axes[name] for name in by)):
        here = tuple(zip(by, at, strict=True))
        table: dict[str, dict[Setting, Numbers]] = {}
        settings: dict[Setting, set[str]] = {}
        doubted: dict[tuple[str, Setting], Doubt] = {}
        for combination in planned:
            if coordinates(combination, by) != here:
                continue
            setting = coordinates(combination, rest)
            settings.setdefault(setting, set()).add(combination[positions[axis]])
            cells = table.setdefault(combination[positions[axis]], {})
            doubt, found = doubts.get(combination), numbers.get(combination, {})
            if min(found.values(), default=0.0) < 0:
                doubt = BELOW_ZERO
            if doubt:
                doubted[combination[positions[axis]], setting] = doubt
            if found and not (doubt and doubt.bars):
                cells[setting] = found
        if table:
            in_order = {value: table[value] for value in results.axes[axis] if value in table}
            groups.append(_group(here, in_order, settings, doubted, higher_is_better))
    return Comparison(axis, tuple(results.axes[axis]), tuple(by), metric, groups)


def _group(
    at: Setting,
    table: Mapping[str, Mapping[Setting, Numbers]],
    planned: Mapping[Setting, Collection[str]],
    doubts: Mapping[tuple[str, Setting], Doubt],
    higher_is_better: bool,
) -> Group:
    """`planned` has the values that the study means to measure in each setting."""
    values, common = _comparable(table, list(planned))
    # Where the study leaves a value out, nothing is missing.
    settings = [setting for setting, meant in planned.items() if set(values) <= set(meant)]
    standings = [_standing(value, [table[value][setting] for setting in common]) for value in values]
    # A stable sort: equals keep the study's order.
    standings.sort(key=lambda standing: standing.rank, reverse=higher_is_better)
    leads = [_lead(standings[0], other, table, common, higher_is_better) for other in standings[1:]]
    seeds = min((len(table[value][setting]) for value in values for setting in common), default=0)
    left_out = [value for value in table if value not in values]
    gaps = [(value, setting) for setting in settings for value in values if setting not in table[value]]
    return Group(at, standings, leads, common, len(settings), gaps, left_out, seeds, doubts)


def _comparable(
    table: Mapping[str, Mapping[Setting, Numbers]], settings: Sequence[Setting]
) -> tuple[list[str], list[Setting]]:
    """The values to compare, and the settings in which each of them was measured, with a seed that all have.

    If no setting has them all, the value measured in the fewest settings is left out, until one does.
    """
    values = [value for value in table if table[value]]
    while values:
        common = [
            setting for setting in settings if _shares_a_seed([table[value].get(setting, {}) for value in values])
        ]
        if common:
            return values, common
        fewest = min(len(table[value]) for value in values)
        values.remove([value for value in values if len(table[value]) == fewest][-1])
    return [], []


def _shares_a_seed(cells: Sequence[Numbers]) -> bool:
    """Without one, nothing pairs their numbers."""
    return bool(set(cells[0]).intersection(*cells[1:]))


def _standing(value: str, cells: Sequence[Numbers]) -> Standing:
    medians = [median(cell.values()) for cell in cells]
    return Standing(value, geometric_mean(medians), medians)


def _lead(
    best: Standing,
    other: Standing,
    table: Mapping[str, Mapping[Setting, Numbers]],
    settings: Sequence[Setting],
    higher_is_better: bool,
) -> Lead:
    pairs = {setting: (table[best.value][setting], table[other.value][setting]) for setting in settings}
    medians = {setting: (median(mine.values()), median(its.values())) for setting, (mine, its) in pairs.items()}
    if not higher_is_better:
        pairs = {setting: (its, mine) for setting, (mine, its) in pairs.items()}
    ratios = {setting: found for setting, pair in pairs.items() if (found := ratio([pair]))}
    whole = ratio(list(pairs.values()))
    assert whole is not None  # the settings are those in which there is a ratio
    return Lead(
        other.value,
        whole,
        min(found.median for found in ratios.values()),
        max(found.median for found in ratios.values()),
        [setting for setting, found in ratios.items() if is_ahead(found)],
        [setting for setting, found in ratios.items() if is_ahead(inverse(found))],
        {setting: medians[setting] for setting, found in ratios.items() if found.median in (0.0, math.inf)},
    )
