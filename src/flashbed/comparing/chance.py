# SPDX-License-Identifier: Apache-2.0
"""Whether seeds that moved by so much would do that by chance alone. Knows numbers only.

A change of code that does no more than shuffle what happens draws anew for each seed: then the changes of the seeds
are as often up as down. Student's test of pairs (1908) asks how often draws like that lie on one side as clearly as
these do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

TELLING = 0.01
"""A change that a shuffle would show less often than that is not called one."""


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

    @property
    def is_telling(self) -> bool:
        """Whether it is more than a shuffle does."""
        return self.chance is not None and self.chance < TELLING


def change(before: Mapping[int, float], after: Mapping[int, float]) -> Change | None:
    """None where the figure is the same with each seed, or no seed has it on both sides."""
    seeds = sorted(before.keys() & after.keys())
    if all(before[seed] == after[seed] for seed in seeds):
        return None
    moved = [_moved(before[seed], after[seed]) for seed in seeds]
    spread = max(_apart(list(side.values())) for side in (before, after))
    if all(math.isfinite(one) and one > -1 for one in moved):
        logs = [math.log1p(one) for one in moved]
        mean = math.expm1(fmean(logs))
    else:
        logs = [after[seed] - before[seed] for seed in seeds]
        mean = _moved(fmean(before[seed] for seed in seeds), fmean(after[seed] for seed in seeds))
    return Change(len(seeds), mean, min(moved), max(moved), spread, _chance(logs))


def _moved(was: float, now: float) -> float:
    if was == now:
        return 0.0
    return now / was - 1 if was else math.inf


def _apart(values: Sequence[float]) -> float:
    return max(values) / min(values) - 1 if min(values) > 0 else (0.0 if max(values) == min(values) else math.inf)


def _chance(moves: Sequence[float]) -> float | None:
    if len(moves) < 2:
        return None
    spread = stdev(moves)
    if spread == 0:
        return 0.0
    return two_sided(fmean(moves) / (spread / math.sqrt(len(moves))), len(moves) - 1)


def two_sided(t: float, freedom: int) -> float:
    """The chance that Student's t with so many degrees of freedom is as far from zero as `t` or farther. (Abramowitz
    and Stegun, 26.7.3 and 26.7.4)
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term, total = (cosine, 0.0) if freedom % 2 else (1.0, 0.0)
    for power in range(3 if freedom % 2 else 2, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (power - 1) / power
    inside = 2 / math.pi * (angle + sine * total) if freedom % 2 else sine * total
    return max(0.0, 1 - inside)
