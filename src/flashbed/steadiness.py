# SPDX-License-Identifier: Apache-2.0
"""Whether the rate of a measurement was steady: what it moved over virtual time, and the rule that judges it.

A rate is steady where its first and its second half lie at most 20 % of its mean apart. Then half of the time alone
gives a figure within 10 % of that of all of it. It is the excursion that SNIA's Solid State Storage Performance Test
Specification (2.0.2, "steady state") allows between rounds. SNIA asks it of five rounds of minutes each; a fifth of a
cell here may hold one merge of a flash stick or none, so what fifths show is chance, where halves show a trend.
Must not know which tool moved the bytes, nor how a verdict is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

MOST_APART = 0.20
"""Of the mean: the second half less the first."""

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
    middle = len(parts) // 2
    first, second = sum(parts[:middle]), sum(parts[middle:])
    apart = 2 * (second - first) / (first + second)
    if abs(apart) <= MOST_APART:
        return ""
    way = "rises" if apart > 0 else "falls"
    rates = f"from {_rate(first, seconds / 2)} MiB/s in its first half to {_rate(second, seconds / 2)} in its second"
    return f"{way} {rates}, {abs(apart):.0%} of its mean"


def _rate(moved: float, seconds: float) -> str:
    return f"{moved / seconds / 2**20:.3g}"
