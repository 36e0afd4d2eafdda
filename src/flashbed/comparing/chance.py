# SPDX-License-Identifier: Apache-2.0
"""Compute how one figure of a cell moved between two sets, and how probable that is by chance. Knows numbers only.

If a change of code only shuffles events, the figures of the seeds go up as often as down. analysis/ratio.py judges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from flashbed.analysis.ratio import SIGNIFICANCE_LEVEL, chance_of, ratio, seeds_agree


@dataclass(frozen=True)
class Change:
    """The change of one figure of a cell from A to B, over the seeds that both have. Shares of 1, not percents."""

    seeds: int
    mean: float
    """The geometric mean; math.inf from zero."""
    least: float
    most: float
    by_seed: float
    """The spread of the seeds of one side, (largest - smallest) / smallest; of the side with the larger spread."""
    chance: float | None
    """The probability of this change by a shuffle alone; None for a single seed, which says nothing about chance."""
    agree: bool
    """True if the seeds agree on the direction, by the rule of the reports."""

    @property
    def is_telling(self) -> bool:
        """True if the change is more than a shuffle causes."""
        return self.agree and self.chance is not None and self.chance < SIGNIFICANCE_LEVEL


def change(before: Mapping[int, float], after: Mapping[int, float]) -> Change | None:
    """Return the change of a figure, whose values are given by seed. Return None if the figure is the same with each
    seed, or if no seed has it on both sides.
    """
    seeds = sorted(before.keys() & after.keys())
    if all(before[seed] == after[seed] for seed in seeds):
        return None
    moved = [relative_change(before[seed], after[seed]) for seed in seeds]
    spread = max(_apart(list(side.values())) for side in (before, after))
    if all(math.isfinite(share) and share > -1 for share in moved):
        logs = [math.log1p(share) for share in moved]
        mean = math.expm1(fmean(logs))
    else:
        logs = [after[seed] - before[seed] for seed in seeds]
        mean = relative_change(fmean(before[seed] for seed in seeds), fmean(after[seed] for seed in seeds))
    ratio_of_seeds = ratio([(after, before)])
    agree = seeds_agree(ratio_of_seeds) if ratio_of_seeds else min(logs) > 0 or max(logs) < 0
    return Change(len(seeds), mean, min(moved), max(moved), spread, chance_of(logs), agree)


def relative_change(was: float, now: float) -> float:
    """Return how much more `now` is than `was`, as a share of 1; math.inf from zero."""
    if was == now:
        return 0.0
    return now / was - 1 if was else math.inf


def _apart(values: Sequence[float]) -> float:
    return max(values) / min(values) - 1 if min(values) > 0 else (0.0 if max(values) == min(values) else math.inf)
