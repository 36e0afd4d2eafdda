# SPDX-License-Identifier: Apache-2.0
"""Judge whether the rate of a measurement was steady, from its progress over virtual time; and, by the same rule,
whether write amplification was the same in both halves, so that a longer run would have about the same.

A rate is steady if its first and its second half differ by at most 20 % of its mean. Then half of the time alone gives
a figure within 10 % of the whole. It is the excursion that SNIA's Solid State Storage Performance Test Specification
(2.0.2, "steady state") allows between rounds. SNIA requires it of five rounds of minutes each. A fifth of a cell here
may hold one merge of a flash stick or none, so fifths show chance, and halves show a trend.

Progress is counted in steps, such as requests of 1 MiB, and chance may add or remove one step in a half. A rate is
called not steady only if the halves differ too much even with one step moved in each. If a step is more than half of
the allowed difference, there is no verdict: the steps are too few (fewer than 20).

The emulator notes how many flash pages had been programmed at which moment (emulator/lab-medium-notes.h), and the
tool's output says what the load had moved by then. Write amplification of a half is the quotient. It changes during a
run when files get their blocks, a journal wraps, or a device begins garbage collection. Must not know which tool moved
the bytes, nor how a verdict is shown.
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
from flashbed.guest_output.assessment import Assessment, State

MOST_APART = 0.20
"""The largest difference between the halves, as a share of the mean."""

SERIES_PARTS = 20
"""A series keeps the bytes of this many parts of its time, of equal length."""


class Steadiness(Assessment):
    """Whether a rate was steady: STEADY, NOT_STEADY or NOT_KNOWN."""


class Settling(Assessment):
    """Whether write amplification was the same in both halves: SETTLED or NOT_SETTLED."""


@dataclass(frozen=True)
class Series:
    """The bytes moved in each of SERIES_PARTS equal parts of a time. If there are several series, `name` tells them
    apart.
    """

    seconds: float
    parts: tuple[float, ...]
    grain: float
    """The largest step of the count between two moments, bytes: a request, or what was noted at once."""
    name: str = ""


def series(moments: Sequence[tuple[float, float]], name: str = "", interval_s: float = math.inf) -> Series | None:
    """Return the series of a growing count; None if no time passes or nothing moves.

    `moments` are (seconds, bytes so far), in order, from the first to the last moment of the measurement. Between two
    moments the count grows evenly. If moments are the ends of intervals in which much is moved, moments further apart
    than `interval_s` hold several steps.
    """
    if len(moments) < 2:
        return None
    (begin, nothing), (end, everything) = moments[0], moments[-1]
    if end <= begin or everything <= nothing:
        return None
    ends = [begin + (end - begin) * part / SERIES_PARTS for part in range(1, SERIES_PARTS)]
    counts = [nothing, *(_at(moments, moment) for moment in ends), everything]
    grain = max(
        (after - before) * min(1.0, interval_s / (late - early) if late > early else 1.0)
        for (early, before), (late, after) in pairwise(moments)
    )
    return Series(end - begin, tuple(round(late - early, 1) for early, late in pairwise(counts)), round(grain, 1), name)


def _at(moments: Sequence[tuple[float, float]], amount: float) -> float:
    """Return the count at a moment after the first."""
    place = min(bisect_left(moments, amount, lo=1, key=lambda moment: moment[0]), len(moments) - 1)
    (early, before), (late, after) = moments[place - 1], moments[place]
    return before + (after - before) * (amount - early) / (late - early) if late > early else after


def steadiness(moved: Sequence[Series], silent: str) -> Steadiness:
    """Return the verdict on a repetition: every series must be steady, and the first that is not gives the reason. It
    is NOT_KNOWN if there is no series, for the tool's reason `silent`, or if the steps of one are too large.
    """
    if not moved:
        return Steadiness(State.NOT_KNOWN, silent)
    verdicts = [_judged(series) for series in moved]
    if unsteady := next((verdict for verdict in verdicts if verdict.state == State.NOT_STEADY), None):
        return unsteady
    return (
        Steadiness(State.STEADY) if all(verdicts) else Steadiness(State.NOT_KNOWN, "it moved in too few steps to tell")
    )


def _judged(moved: Series) -> Steadiness:
    """Return the verdict on one series; an empty one if its steps are too large."""
    middle = len(moved.parts) // 2
    first, second = fsum(moved.parts[:middle]), fsum(moved.parts[middle:])
    mean = (first + second) / 2
    apart, allowed = abs(second - first), MOST_APART * mean
    chance = 2 * moved.grain  # one half may have a step more, the other a step less
    if chance > allowed:
        return Steadiness()
    if apart <= allowed:
        return Steadiness(State.STEADY)
    if apart - chance <= allowed:
        return Steadiness()
    half_s = moved.seconds / 2
    why = "rises" if second > first else "falls"
    rates = f"from {_rate(first, half_s)} MiB/s in its first half to {_rate(second, half_s)} in its second"
    whose = f"{moved.name}: " if moved.name else ""
    return Steadiness(State.NOT_STEADY, f"{whose}{why} {rates}, {100 * apart / mean:.0f} % of its mean")


def _rate(moved: float, seconds: float) -> str:
    return f"{moved / seconds / 2**20:.3g}"


PROGRAMMED_NOTES = "programmed.bin"

_MOMENT = struct.Struct("<2Q")
PROGRAMMED_PAGES = "flash_programmed_pages"

WHOLE_RUN = 0.9
"""The load must run for this share of the measurement. Otherwise their halves are different times."""


def programmed(out: Mapping[str, bytes]) -> Series | None:
    """Return the series of flash pages programmed over the measurement; None if nobody noted it. Raises KeyError or
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
    return medium_counters.parse(text).get(PROGRAMMED_PAGES, 0)


def settling(flash: Series | None, load: Sequence[Series]) -> Settling:
    """Return whether write amplification was the same in both halves, and how it changed if not; an empty verdict if it
    is unknown. `load` has the series of each job over the same time.
    """
    if flash is None or not load or any(series.seconds < WHOLE_RUN * flash.seconds for series in load):
        return Settling()
    moved = [fsum(series.parts[part] for series in load) for part in range(SERIES_PARTS)]
    halves = [(_half_of(flash.parts, late), _half_of(moved, late)) for late in (False, True)]
    if not all(pages and bytes_ for pages, bytes_ in halves):
        return Settling()
    first, second = (pages / bytes_ for pages, bytes_ in halves)
    mean = (first + second) / 2
    chance = 2 * (flash.grain / fsum(flash.parts) + fsum(series.grain for series in load) / fsum(moved)) * 2 * mean
    apart, allowed = abs(second - first), MOST_APART * mean
    if apart - chance <= allowed:
        return Settling(State.SETTLED) if apart <= allowed and chance <= allowed else Settling()
    return Settling(
        State.NOT_SETTLED,
        f"write amplification {'rises' if second > first else 'falls'} by "
        f"{100 * apart / max(first, second):.0f} % from its first half to its second",
    )


def _half_of(parts: Sequence[float], late: bool) -> float:
    middle = len(parts) // 2
    return fsum(parts[middle:] if late else parts[:middle])
