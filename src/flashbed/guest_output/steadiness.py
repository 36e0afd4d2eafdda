# SPDX-License-Identifier: Apache-2.0
"""Whether the rate of a measurement was steady: what it moved over virtual time, and the rule that judges it. And
whether, by the same rule, write amplification was the same in both halves, so that a longer run would have about the
same.

A rate is steady where its first and its second half lie at most 20 % of its mean apart. Then half of the time alone
gives a figure within 10 % of that of all of it. It is the excursion that SNIA's Solid State Storage Performance Test
Specification (2.0.2, "steady state") allows between rounds. SNIA asks it of five rounds of minutes each; a fifth of a
cell here may hold one merge of a flash stick or none, so what fifths show is chance, where halves show a trend.

What moves is counted in steps, such as requests of 1 MiB, and chance has one step more or less in a half. A rate is
called not steady only where the halves are too far apart whichever way chance had a step in each of them. Where a step
is more than half of what is allowed, nothing is said: there are too few to tell (fewer than 20).

The emulator notes how many flash pages had been programmed at which moment (emulator/lab-medium-notes.h), and the
tool's output tells what the load had moved by then. Write amplification of a half is the one over the other. What moves
it in a run: files that get their blocks, a journal that wraps, a device that begins to collect.
Must not know which tool moved the bytes, nor how a verdict is shown.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

from flashbed.guest_output import medium_counters
from flashbed.guest_output.assessment import Assessment

MOST_APART = 0.20
"""Of the mean: the second half less the first."""

PARTS = 20
"""What is kept of a series: the bytes of so many parts of its time, alike in length."""

STEADY, NOT_STEADY, NOT_KNOWN = "steady", "not steady", "not known"


class Steadiness(Assessment):
    """Whether a rate was steady: STEADY, NOT_STEADY or NOT_KNOWN."""


class Settling(Assessment):
    """Whether write amplification was the same in both halves: SETTLED or NOT_SETTLED."""


@dataclass(frozen=True)
class Series:
    """What was moved in each of PARTS equal parts of a time, bytes; `name` says whose series it is where there are
    several.
    """

    seconds: float
    parts: tuple[float, ...]
    grain: float
    """The largest step of the count between two moments, bytes: a request, or what was noted at once."""
    name: str = ""


def series(moments: Sequence[tuple[float, float]], name: str = "", interval_s: float = math.inf) -> Series | None:
    """The series of a count that grows: `moments` are (seconds, bytes so far), in order, from the first to the last
    moment of the measurement. Between two moments it grows evenly. Where moments are the ends of intervals in which
    much is moved, those that lie further than `interval_s` apart hold several steps. None where no time passes or
    nothing moves.
    """
    if len(moments) < 2:
        return None
    (begin, nothing), (end, everything) = moments[0], moments[-1]
    if end <= begin or everything <= nothing:
        return None
    ends = [begin + (end - begin) * part / PARTS for part in range(1, PARTS)]
    counts = [nothing, *(_at(moments, moment) for moment in ends), everything]
    grain = max(
        (after - before) * min(1.0, interval_s / (late - early) if late > early else 1.0)
        for (early, before), (late, after) in pairwise(moments)
    )
    return Series(end - begin, tuple(round(late - early, 1) for early, late in pairwise(counts)), round(grain, 1), name)


def _at(moments: Sequence[tuple[float, float]], wanted: float) -> float:
    """The count at a moment after the first."""
    place = min(bisect_left(moments, wanted, lo=1, key=lambda moment: moment[0]), len(moments) - 1)
    (early, before), (late, after) = moments[place - 1], moments[place]
    return before + (after - before) * (wanted - early) / (late - early) if late > early else after


def steadiness(moved: Sequence[Series], silent: str) -> Steadiness:
    """Of the series of a repetition each must be steady, and the first that is not says why. It is not known where
    there is none, for which `silent` is the tool's reason, or where the steps of one are too large to tell.
    """
    if not moved:
        return Steadiness(NOT_KNOWN, silent)
    verdicts = [_judged(series) for series in moved]
    if unsteady := next((verdict for verdict in verdicts if verdict.state == NOT_STEADY), None):
        return unsteady
    return Steadiness(STEADY) if all(verdicts) else Steadiness(NOT_KNOWN, "it moved in too few steps to tell")


def _judged(moved: Series) -> Steadiness:
    """The verdict on one series; none where its steps are too large."""
    middle = len(moved.parts) // 2
    first, second = fsum(moved.parts[:middle]), fsum(moved.parts[middle:])
    mean = (first + second) / 2
    apart, allowed = abs(second - first), MOST_APART * mean
    chance = 2 * moved.grain  # a step that the one half has more, and the other less
    if chance > allowed:
        return Steadiness()
    if apart <= allowed:
        return Steadiness(STEADY)
    if apart - chance <= allowed:
        return Steadiness()
    half_s = moved.seconds / 2
    why = "rises" if second > first else "falls"
    rates = f"from {_rate(first, half_s)} MiB/s in its first half to {_rate(second, half_s)} in its second"
    whose = f"{moved.name}: " if moved.name else ""
    return Steadiness(NOT_STEADY, f"{whose}{why} {rates}, {100 * apart / mean:.0f} % of its mean")


def _rate(moved: float, seconds: float) -> str:
    return f"{moved / seconds / 2**20:.3g}"


PROGRAMMED_NOTES = "programmed.bin"

SETTLED, NOT_SETTLED = "settled", "not settled"

_MOMENT = struct.Struct("<2Q")
PROGRAMMED = "flash_programmed_pages"

WHOLE_RUN = 0.9
"""The load must have run for so much of the measurement, or their halves are not the same time."""


def programmed(out: Mapping[str, bytes]) -> Series | None:
    """The flash pages that were programmed over the measurement, None where nobody noted that. Raises KeyError or
    ValueError.
    """
    if PROGRAMMED_NOTES not in out:
        return None
    began, ended = medium_counters.window_ns(out)
    if len(out[PROGRAMMED_NOTES]) % _MOMENT.size:
        raise ValueError(f"{PROGRAMMED_NOTES} is not a row of entries of {_MOMENT.size} bytes")
    notes = [(now, pages) for now, pages in _MOMENT.iter_unpack(out[PROGRAMMED_NOTES]) if began < now < ended]
    before, after = (_pages(out[name]) for name in (medium_counters.BEFORE, medium_counters.MEASURED))
    return series([((now - began) / 1e9, float(pages)) for now, pages in [(began, before), *notes, (ended, after)]])


def _pages(text: bytes) -> int:
    return medium_counters.parse(text).get(PROGRAMMED, 0)


def settling(flash: Series | None, load: Sequence[Series]) -> Settling:
    """Whether it was the same, and how it moved if not; none where it cannot be told. `load` is what moved in the same
    time, of each of its jobs.
    """
    if flash is None or not load or any(series.seconds < WHOLE_RUN * flash.seconds for series in load):
        return Settling()
    moved = [fsum(series.parts[part] for series in load) for part in range(PARTS)]
    halves = [(_half_of(flash.parts, late), _half_of(moved, late)) for late in (False, True)]
    if not all(pages and bytes_ for pages, bytes_ in halves):
        return Settling()
    first, second = (pages / bytes_ for pages, bytes_ in halves)
    mean = (first + second) / 2
    chance = 2 * (flash.grain / fsum(flash.parts) + fsum(series.grain for series in load) / fsum(moved)) * 2 * mean
    apart, allowed = abs(second - first), MOST_APART * mean
    if apart - chance <= allowed:
        return Settling(SETTLED) if apart <= allowed and chance <= allowed else Settling()
    return Settling(
        NOT_SETTLED,
        f"write amplification {'rises' if second > first else 'falls'} by "
        f"{100 * apart / max(first, second):.0f} % from its first half to its second",
    )


def _half_of(parts: Sequence[float], late: bool) -> float:
    middle = len(parts) // 2
    return fsum(parts[middle:] if late else parts[:middle])
