# SPDX-License-Identifier: Apache-2.0
"""What a comparison found: how each value stands, how far the best is ahead, and which figures decide nothing.

A group holds what a study wants kept apart (say, one pattern); its settings are the combinations of all other axes
(say, request sizes), over which ratios are averaged. comparison.py makes these. Knows numbers and names of axes; the
words are somebody else's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from flashbed.analysis.decisive import Doubt
from flashbed.analysis.ratio import WIDE_FACTOR, Spread, geometric_mean, is_ahead
from flashbed.study.relation import FAR

Setting = tuple[tuple[str, str], ...]
"""Axis and value, for each axis that is neither compared nor kept apart."""


def telling_axes(settings: Sequence[Setting]) -> list[str]:
    """The axes in which settings differ."""
    columns = zip(*settings, strict=True) if settings else ()
    return [column[0][0] for column in columns if len(set(column)) > 1]


def narrowed(settings: Sequence[Setting], planned: Sequence[Setting]) -> Setting:
    """What some of the planned settings have in common that not all have: only small files, say."""
    telling, free = telling_axes(settings), telling_axes(planned)
    return tuple(pair for pair in (settings[0] if settings else ()) if pair[0] in free and pair[0] not in telling)


@dataclass(frozen=True)
class Standing:
    """How one value did over some settings of a group: the mean of its medians (Comparison.in_time), these in the order
    of the settings, and over the seeds the mean with each of them.
    """

    value: str
    score: float
    medians: Sequence[float]
    seeds: Spread
    settings: Sequence[Setting]

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 everywhere."""
        return not any(self.medians)

    @property
    def telling_axes(self) -> list[str]:
        """The axes in which its settings differ."""
        return telling_axes(self.settings)

    @property
    def rank(self) -> tuple[int, float]:
        """Grows as the numbers do. A zero is below all else, however many times the others are more."""
        above = [number for number in self.medians if number]
        if len(above) == len(self.medians):
            return 0, self.score
        return -self.medians.count(0.0), geometric_mean(above) if above else 0.0


ROUNDING = 1e-9
"""Of ratios of whole numbers that came by way of years."""

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
    counts_leave: float = 1.0
    """Where figures are counts, a factor up to here may be one count on either side (comparison.py)."""

    @property
    def is_endless(self) -> bool:
        """Whether a zero makes the ratio over all settings, so that it is no number to tell anybody."""
        return self.factor in (0.0, math.inf)

    @property
    def factor(self) -> float:
        return self.whole.median

    @property
    def ends(self) -> tuple[float, float]:
        """Between which it is ahead: the factor, or where the seeds lie so far apart that it alone misleads
        (spread.WIDE_FACTOR), the interval.
        """
        low, high = self.whole.low, self.whole.high
        is_wide = self.verdict == "ahead" and math.isfinite(high) and high >= WIDE_FACTOR * low
        return (low, high) if is_wide else (self.factor, self.factor)

    @property
    def has_known_size(self) -> bool:
        """Whether the seeds agree on how far it is ahead: no end of the interval far (relation.FAR) from the other."""
        low, high = self.ends
        return low == high or high < FAR * low

    @property
    def verdict(self) -> Verdict:
        if self.behind_at:
            return "depends"
        is_told = self.whole.low > self.counts_leave * (1 + ROUNDING) or self.counts_leave == 1.0
        return "ahead" if is_told and is_ahead(self.whole) else "even"


@dataclass(frozen=True)
class Group:
    """The comparison for one combination of the axes kept apart.

    `settings` are those in which each value that is compared has a result that decides; where nothing is compared, the
    few in which all that were measured have one. `gaps` are why others could not be.
    `left_out` are values that are not compared, because they have no result, or too few that decide
    (decisive.is_enough()). What was measured of them all the same is in `undecided`: over the settings that are
    compared, as far as it has them, or over all that it has.
    """

    at: Setting
    standings: Sequence[Standing]
    leads: Sequence[Lead]
    settings: Sequence[Setting]
    planned: Sequence[Setting]
    gaps: Sequence[tuple[str, Setting]]
    left_out: Sequence[str]
    seeds: int
    doubts: Mapping[tuple[str, Setting], Doubt] = field(default_factory=dict)
    """By value and setting, why a figure that was measured decides nothing, or not the medium."""
    undecided: Mapping[str, Standing] = field(default_factory=dict)

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
    def not_durable(self) -> dict[str, Doubt]:
        """The values that lost commits of the load in any setting. They are out of the comparison, and not in doubt: a
        stack that does not do what it is asked for is never the best.
        """
        found = {value: doubt for (value, _), doubt in self.doubts.items() if doubt.kind == "not durable"}
        return {value: found[value] for value in self.left_out if value in found}

    @property
    def in_doubt(self) -> list[str]:
        """The values that were measured and of which too few figures decide: any of them may be the best."""
        barred = {value for (value, _), doubt in self.doubts.items() if doubt.bars}
        out = self.not_durable
        return [v for v in self.left_out if v not in out and (v in barred or v in self.undecided)]

    @property
    def settings_planned(self) -> int:
        """In so many settings the study means to measure all values that are compared."""
        return len(self.planned)

    @property
    def is_partial(self) -> bool:
        """Whether the verdict rests on some of the settings that were planned, and not on all."""
        return bool(self.standings) and len(self.settings) < self.settings_planned

    @property
    def is_zero(self) -> bool:
        """Whether the best, and all that are not told apart from it, are 0 everywhere."""
        even = {lead.over for lead in self.leads_that_are("even")}
        among = [one for one in self.standings if one.value == self.best or one.value in even]
        return bool(among) and all(one.is_zero for one in among)

    @property
    def barred(self) -> list[Doubt]:
        """Why figures of what is compared were not, in the order of the study."""
        out = self.not_durable
        return [doubt for (value, _), doubt in self.doubts.items() if doubt.bars and value not in out]

    @property
    def depends(self) -> bool:
        """Whether another value is ahead of the best in some of the settings."""
        return any(lead.verdict == "depends" for lead in self.leads)

    def cpu_decides(self, value: str) -> bool:
        """Whether the CPU decides in more than half of the settings that are compared. The order of the figures holds
        then on this board, and says little of what is compared.
        """
        by = {setting for (name, setting), doubt in self.doubts.items() if name == value and doubt.kind == "CPU"}
        return 2 * len(by.intersection(self.settings)) > len(self.settings)

    @property
    def is_the_cpus(self) -> bool:
        """Whether the CPU decides for the best, so that nothing is recommended by its lead."""
        return self.best is not None and bool(self.leads) and self.cpu_decides(self.best)

    def leads_that_are(self, verdict: Verdict) -> list[Lead]:
        return [lead for lead in self.leads if lead.verdict == verdict]

    @property
    def telling_axes(self) -> list[str]:
        """The axes in which the settings differ."""
        return telling_axes(self.settings)


@dataclass(frozen=True)
class Comparison:
    """The study's question, answered group by group."""

    compare: str
    values: Sequence[str]
    """What is compared, in the study's order."""
    by: Sequence[str]
    metric: str
    groups: Sequence[Group]
    is_unknown: bool = False
    """Whether no repetition that was measured has the metric: the tool, the load or the medium does not tell it."""
    in_time: bool = False
    """Whether the mean over settings is that of times; else it is the geometric mean."""
