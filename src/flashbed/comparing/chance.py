# SPDX-License-Identifier: Apache-2.0
"""How one figure of a cell moved between two sets, and whether it would do that by chance alone. Knows numbers only.

A change of code that does no more than shuffle what happens draws anew for each seed: then the changes of the seeds
are as often up as down. analysis/ratio.py judges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from flashbed.analysis.ratio import SIGNIFICANCE_LEVEL, chance_of, ratio, seeds_agree


@dataclass(frozen=True)
class Change:
    """How one figure of a cell moved from A to B, over the seeds that both have. Shares of 1, not percents."""

    seeds: int
    mean: float
    """Of the geometric kind; math.inf from zero."""
    least: float
    most: float
    by_seed: float
    """How far apart the seeds of one side lie: (largest - smallest) / smallest, of the side where that is more."""
    chance: float | None
    """How often a shuffle alone would show this; None with a single seed, which tells nothing of chance."""
    agree: bool
    """True if the seeds agree on the direction, by the rule of the reports."""

    @property
    def is_telling(self) -> bool:
        """True if it is more than a shuffle does."""
        return self.agree and self.chance is not None and self.chance < SIGNIFICANCE_LEVEL


def change(before: Mapping[int, float], after: Mapping[int, float]) -> Change | None:
    """None where the figure is the same with each seed, or no seed has it on both sides."""
    seeds = sorted(before.keys() & after.keys())
    if all(before[seed] == after[seed] for seed in seeds):
        return None
    moved = [relative_change(before[seed], after[seed]) for seed in seeds]
    spread = max(_apart(list(side.values())) for side in (before, after))
    if all(math.isfinite(one) and one > -1 for one in moved):
        logs = [math.log1p(one) for one in moved]
        mean = math.expm1(fmean(logs))
    else:
        logs = [after[seed] - before[seed] for seed in seeds]
        mean = relative_change(fmean(before[seed] for seed in seeds), fmean(after[seed] for seed in seeds))
    found = ratio([(after, before)])
    agree = seeds_agree(found) if found else min(logs) > 0 or max(logs) < 0
    return Change(len(seeds), mean, min(moved), max(moved), spread, chance_of(logs), agree)


def relative_change(was: float, now: float) -> float:
    """Return how much more `now` is than `was`, as a share of 1; math.inf from zero."""
    if was == now:
        return 0.0
    return now / was - 1 if was else math.inf


def _apart(values: Sequence[float]) -> float:
    return max(values) / min(values) - 1 if min(values) > 0 else (0.0 if max(values) == min(values) else math.inf)
