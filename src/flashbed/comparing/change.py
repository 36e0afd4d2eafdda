# SPDX-License-Identifier: Apache-2.0
"""Compute how one figure of a cell changes from A to B, how probable that is by chance, and where the difference of the
cell begins: bytes, flushes, requests, medium, code or moments.

If a change of code only shuffles events, the figures of the seeds go up as often as down. analysis/ratio.py judges.
Counters that are the same on both sides narrow the cause down. Knows numbers and the counters' layers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from statistics import fmean

from flashbed.analysis.ratio import SIGNIFICANCE_LEVEL, chance_of, ratio, seeds_agree
from flashbed.result.metrics import CPU_LAYER, FLUSHES, LAYERS


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


def change_of(before: Mapping[int, float], after: Mapping[int, float]) -> Change | None:
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


class BeginsWith(StrEnum):
    """Where a difference begins, in the words of docs/compare.md."""

    BYTES = "bytes"
    FLUSHES = "flushes"
    REQUESTS = "requests"
    MEDIUM = "medium"
    CODE = "code"
    MOMENTS = "moments"
    UNKNOWN = "not told"
    """A report has no counters."""


class FlushChange(Enum):
    """How the number of flushes changes over the seeds of a cell."""

    NONE = "none"
    MORE = "more"
    FEWER = "fewer"
    MIXED = "mixed"
    """With some seeds more and with others fewer; all seeds together have as many."""


@dataclass(frozen=True)
class Cause:
    """Where a difference begins, and how far each layer moved."""

    begins_with: BeginsWith
    flushes: FlushChange
    moved: Mapping[str, float]
    """The change of each layer as a share of 1; 0 if the layer is the same."""


def cause(pairs: Iterable[tuple[Mapping[str, int], Mapping[str, int]]]) -> Cause:
    """Return the cause for a cell that differs. `pairs` has the counters of A and B for each seed."""
    both = [(of_a, of_b) for of_a, of_b in pairs if of_a and of_b]
    if not both:
        return Cause(BeginsWith.UNKNOWN, FlushChange.NONE, {})
    known = {layer: names for layer, names in LAYERS.items() if any(name in both[0][0] for name in names)}
    other = {layer for layer, names in known.items() if any(a.get(n) != b.get(n) for a, b in both for n in names)}
    moved = {layer: _moved(both, names) if layer in other else 0.0 for layer, names in known.items()}
    return Cause(_begins_with(other), _flush_change(moved[FLUSHES]) if FLUSHES in other else FlushChange.NONE, moved)


def _moved(both: Iterable[tuple[Mapping[str, int], Mapping[str, int]]], names: Iterable[str]) -> float:
    rows = [(sum(a.get(name, 0) for name in names), sum(b.get(name, 0) for name in names)) for a, b in both]
    before, after = (sum(side) for side in zip(*rows, strict=True))
    return relative_change(before, after)


def _begins_with(other: set[str]) -> BeginsWith:
    """Return where a difference begins whose `other` layers have counters that differ."""
    if "bytes" in other or ("pages" in other and "requests" in other):
        return BeginsWith.BYTES
    if FLUSHES in other:
        return BeginsWith.FLUSHES
    if "requests" in other:
        return BeginsWith.REQUESTS
    if "pages" in other or "erases" in other:
        return BeginsWith.MEDIUM
    return BeginsWith.CODE if CPU_LAYER in other else BeginsWith.MOMENTS


def _flush_change(share: float) -> FlushChange:
    if share == 0:
        return FlushChange.MIXED
    return FlushChange.MORE if share > 0 else FlushChange.FEWER
