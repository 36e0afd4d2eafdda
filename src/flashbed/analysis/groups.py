# SPDX-License-Identifier: Apache-2.0
"""The result of a comparison: how each value stands, how far the best is ahead, and which figures decide nothing.

A group has what a study keeps apart, such as one pattern. Its settings are the combinations of all other axes, such as
request sizes, over which ratios are averaged. comparison.py makes these. Must not know words for people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from flashbed.analysis.decisive import Doubt
from flashbed.analysis.ratio import WIDE_FACTOR, Spread, geometric_mean, is_ahead
from flashbed.analysis.study_results import JointAxis, JointValue
from flashbed.study.relation import FAR

Setting = tuple[tuple[str, str], ...]
"""Axis and value, for each axis that is neither compared nor kept apart."""


def telling_axes(settings: Sequence[Setting]) -> list[str]:
    """Return the axes in which settings differ."""
    columns = zip(*settings, strict=True) if settings else ()
    return [column[0][0] for column in columns if len(set(column)) > 1]


def narrowed(settings: Sequence[Setting], planned: Sequence[Setting]) -> Setting:
    """Return what some of the planned settings have in common and the others have not, such as only small files."""
    telling, free = telling_axes(settings), telling_axes(planned)
    return tuple(pair for pair in (settings[0] if settings else ()) if pair[0] in free and pair[0] not in telling)


@dataclass(frozen=True)
class Standing:
    """The figures of one value over some settings of a group.

    `score` is the mean of the medians (geometric, or arithmetic by Comparison.in_time), `medians` are in the order of
    `settings`, and `seeds` is the spread of that mean over the seeds.
    """

    value: JointValue
    score: float
    medians: Sequence[float]
    seeds: Spread
    settings: Sequence[Setting]

    @property
    def is_zero(self) -> bool:
        """True if all medians are 0."""
        return not any(self.medians)

    @property
    def telling_axes(self) -> list[str]:
        """Return the axes in which its settings differ."""
        return telling_axes(self.settings)

    @property
    def rank(self) -> tuple[int, float]:
        """Return a key that grows with the numbers. A zero ranks below all else, however large the others are."""
        above = [number for number in self.medians if number]
        if len(above) == len(self.medians):
            return 0, self.score
        return -self.medians.count(0.0), geometric_mean(above) if above else 0.0


ROUNDING = 1e-9
"""The relative rounding error of a ratio of whole numbers that is computed from years."""

LeadVerdict = Literal["ahead", "depends", "even"]
"""The best value against another: ahead; ahead in some settings and behind in others; not distinguished by the seeds.
"""


@dataclass(frozen=True)
class Lead:
    """The best value against one other; factors are above 1 where the best is ahead.

    `whole` is the factor over all settings; `lowest` and `highest` are the medians of single settings. `ahead_at` and
    `behind_at` are the settings in which the seeds leave no doubt.
    """

    over: JointValue
    whole: Spread
    lowest: float
    highest: float
    ahead_at: Sequence[Setting]
    behind_at: Sequence[Setting]
    zeros: Mapping[Setting, tuple[float, float]] = field(default_factory=dict)
    """The medians of the best and of the other, by each setting in which one of them is 0, so that the ratio is no
    number.
    """
    counts_leave: float = 1.0
    """If figures are counts, a factor up to this may be one count on either side (comparison.py)."""

    @property
    def is_endless(self) -> bool:
        """True if a zero makes the ratio over all settings 0 or infinite, so that it is no number to show."""
        return self.factor in (0.0, math.inf)

    @property
    def factor(self) -> float:
        """Return the median over the seeds."""
        return self.whole.median

    @property
    def ends(self) -> tuple[float, float]:
        """Return the two ends of the lead: the factor twice or, if the seeds lie so far apart that the factor alone
        misleads (ratio.WIDE_FACTOR), the interval.
        """
        low, high = self.whole.low, self.whole.high
        is_wide = self.verdict == "ahead" and math.isfinite(high) and high >= WIDE_FACTOR * low
        return (low, high) if is_wide else (self.factor, self.factor)

    @property
    def has_known_size(self) -> bool:
        """True if the seeds agree on the size of the lead: no end of the interval is FAR from the other."""
        low, high = self.ends
        return low == high or high < FAR * low

    @property
    def verdict(self) -> LeadVerdict:
        """Return whether the best is ahead of this value."""
        if self.behind_at:
            return "depends"
        is_beyond_counts = self.whole.low > self.counts_leave * (1 + ROUNDING) or self.counts_leave == 1.0
        return "ahead" if is_beyond_counts and is_ahead(self.whole) else "even"


@dataclass(frozen=True)
class Group:
    """The comparison for one combination of the axes kept apart.

    In `settings` each compared value has a result that decides; if nothing is compared, each measured value has one.
    `gaps` names the value and setting of each missing result. `left_out` are values that are not compared, because they
    have no result, or too few that decide (decisive.is_enough()). Their figures are in `undecided`: over the compared
    settings that they have, or over all of their own.
    """

    at: Setting
    standings: Sequence[Standing]
    leads: Sequence[Lead]
    settings: Sequence[Setting]
    planned: Sequence[Setting]
    gaps: Sequence[tuple[JointValue, Setting]]
    left_out: Sequence[JointValue]
    seeds: int
    doubts: Mapping[tuple[JointValue, Setting], Doubt] = field(default_factory=dict)
    """Why a measured figure decides nothing, or nothing about the medium, by value and setting."""
    undecided: Mapping[JointValue, Standing] = field(default_factory=dict)

    @property
    def best(self) -> JointValue | None:
        """Return the best value; None if nothing is compared."""
        return self.standings[0].value if self.standings else None

    @property
    def winner(self) -> JointValue | None:
        """Return the best value if it is ahead of every other, behind none in any setting, and no value is in doubt."""
        if self.in_doubt or not self.leads:
            return None
        return self.best if all(lead.verdict == "ahead" for lead in self.leads) else None

    @property
    def not_durable(self) -> dict[JointValue, Doubt]:
        """Return the values that lost commits of the load in any setting. They are out of the comparison, and not in
        doubt: a stack that does not do what it is asked for is never the best.
        """
        lost = {value: doubt for (value, _), doubt in self.doubts.items() if doubt.kind == "not durable"}
        return {value: lost[value] for value in self.left_out if value in lost}

    @property
    def in_doubt(self) -> list[JointValue]:
        """Return the values that were measured and of which too few figures decide: any of them may be the best."""
        barred = {value for (value, _), doubt in self.doubts.items() if doubt.bars}
        out = self.not_durable
        return [v for v in self.left_out if v not in out and (v in barred or v in self.undecided)]

    @property
    def settings_planned(self) -> int:
        """Return the number of settings in which the study plans to measure all values that are compared."""
        return len(self.planned)

    @property
    def is_partial(self) -> bool:
        """True if the verdict rests on only some of the planned settings."""
        return bool(self.standings) and len(self.settings) < self.settings_planned

    @property
    def is_zero(self) -> bool:
        """True if the best, and all values that are even with it, are 0 everywhere."""
        even = {lead.over for lead in self.leads_that_are("even")}
        among = [standing for standing in self.standings if standing.value == self.best or standing.value in even]
        return bool(among) and all(standing.is_zero for standing in among)

    @property
    def barred(self) -> list[Doubt]:
        """Return the doubts that keep figures of compared values out, in the order of the study."""
        out = self.not_durable
        return [doubt for (value, _), doubt in self.doubts.items() if doubt.bars and value not in out]

    @property
    def depends(self) -> bool:
        """True if another value is ahead of the best in some of the settings."""
        return any(lead.verdict == "depends" for lead in self.leads)

    def cpu_decides(self, value: JointValue) -> bool:
        """True if the CPU decides in more than half of the compared settings. The order of the figures then holds on
        this board, and says little of what is compared.
        """
        by = {setting for (name, setting), doubt in self.doubts.items() if name == value and doubt.kind == "CPU"}
        return 2 * len(by.intersection(self.settings)) > len(self.settings)

    @property
    def cpu_decides_best(self) -> bool:
        """True if the CPU decides for the best, so that its lead recommends nothing."""
        return self.best is not None and bool(self.leads) and self.cpu_decides(self.best)

    def leads_that_are(self, verdict: LeadVerdict) -> list[Lead]:
        """Return the leads with a verdict."""
        return [lead for lead in self.leads if lead.verdict == verdict]

    @property
    def telling_axes(self) -> list[str]:
        """Return the axes in which the settings differ."""
        return telling_axes(self.settings)


@dataclass(frozen=True)
class Comparison:
    """The study's question, answered group by group."""

    compare: JointAxis
    by: Sequence[str]
    metric: str
    groups: Sequence[Group]
    is_unknown: bool = False
    """True if no measured repetition has the metric, because the tool, the load or the medium has none."""
    in_time: bool = False
    """True if the mean over settings is that of times; else it is the geometric mean."""
