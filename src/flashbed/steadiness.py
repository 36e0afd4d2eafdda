# SPDX-License-Identifier: Apache-2.0
"""Whether the rate of a measurement was steady: what it moved over virtual time, and the rule that judges it.

The rule is that of SNIA's Solid State Storage Performance Test Specification (2.0.2, "steady state"): over five rounds

    the largest less the smallest round is at most 20 % of their mean, and
    the line of least squares through them rises or falls by at most 10 % of the mean, from first round to last.

SNIA's rounds are minutes of a test that goes on until it is steady. Here they are fifths of the time that was measured,
because it is that time whose figure is told: a figure is not steady where another length of it would give another one.
Must not know which tool moved the bytes, nor how a verdict is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

ROUNDS = 5
"""SNIA's measurement window, in rounds."""

MOST_EXCURSION = 0.20
"""Of the mean: the largest round less the smallest."""

MOST_SLOPE = 0.10
"""Of the mean: what the line of least squares rises or falls from the first round to the last."""

PARTS = 20
"""What is kept of a series: the bytes of so many parts of its time, alike in length."""

STEADY, NOT_STEADY = "steady", "not steady"


@dataclass(frozen=True)
class Series:
    """What was moved in each of PARTS equal parts of a time; `name` says whose series it is where there are several."""

    seconds: float
    parts: tuple[float, ...]
    name: str = ""

    def plain(self) -> dict[str, Any]:
        """For a result."""
        return {"name": self.name, "seconds": self.seconds, "bytes": list(self.parts)}


def series(moments: Sequence[tuple[float, float]], name: str = "") -> Series | None:
    """The series of a count that grows: `moments` are (seconds, bytes so far), in order, from the first to the last
    moment of the measurement. Between two moments it grows evenly. None where no time passes or nothing moves.
    """
    if len(moments) < 2:
        return None
    (begin, nothing), (end, everything) = moments[0], moments[-1]
    if end <= begin or everything <= nothing:
        return None
    ends = [begin + (end - begin) * part / PARTS for part in range(1, PARTS)]
    counts = [nothing, *(_at(moments, moment) for moment in ends), everything]
    return Series(end - begin, tuple(round(late - early, 1) for early, late in pairwise(counts)), name)


def _at(moments: Sequence[tuple[float, float]], wanted: float) -> float:
    """The count at a moment."""
    for (early, before), (late, after) in pairwise(moments):
        if wanted <= late:
            return before + (after - before) * (wanted - early) / (late - early) if late > early else after
    return moments[-1][1]


def verdict(found: Sequence[Mapping[str, Any]]) -> str:
    """ "steady", or "not steady: " and why, of the series that a result has (Series.plain()); "" where it has none.
    Of several each must be steady, and the first that is not says why.
    """
    for one in found:
        if why := _against(one["bytes"], one["seconds"]):
            return f"{NOT_STEADY}: {one['name']}: {why}" if one["name"] else f"{NOT_STEADY}: {why}"
    return STEADY if found else ""


def _against(parts: Sequence[float], seconds: float) -> str:
    """What speaks against it being steady; "" for nothing."""
    length = len(parts) // ROUNDS
    rounds = [sum(parts[place : place + length]) for place in range(0, len(parts), length)]
    mean = sum(rounds) / len(rounds)
    excursion, slope = (max(rounds) - min(rounds)) / mean, rise(rounds) / mean
    if abs(slope) > MOST_SLOPE:
        half, way = len(parts) // 2, "rises" if slope > 0 else "falls"
        first, second = (_rate(sum(some), seconds / 2) for some in (parts[:half], parts[half:]))
        return f"{way} by {abs(slope):.0%} of its mean, from {first} MiB/s in the first half to {second} in the second"
    if excursion > MOST_EXCURSION:
        low, high = (_rate(one, seconds / ROUNDS) for one in (min(rounds), max(rounds)))
        return f"its fifths range from {low} to {high} MiB/s, {excursion:.0%} of the mean"
    return ""


def rise(values: Sequence[float]) -> float:
    """What the line of least squares through `values`, which stand one step apart, rises from the first to the last."""
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    steps = [place - middle for place in range(len(values))]
    slope = sum(step * (value - mean) for step, value in zip(steps, values, strict=True)) / sum(s * s for s in steps)
    return slope * (len(values) - 1)


def _rate(moved: float, seconds: float) -> str:
    return f"{moved / seconds / 2**20:.3g}"
