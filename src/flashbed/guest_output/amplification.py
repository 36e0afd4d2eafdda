# SPDX-License-Identifier: Apache-2.0
"""Whether write amplification was the same in both halves of a run, so that a longer one would have about the same.

The emulator notes how many flash pages had been programmed at which moment (emulator/lab-medium-notes.h), and
the tool's output tells what the load had moved by then. Write amplification of a half is the one over the other. It is
judged by the rule of steadiness.py: the halves lie at most a fifth of their mean apart, whichever way chance had a
step of the counts in each of them.

What moves it in a run: files that get their blocks, a journal that wraps, a device that begins to collect.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from math import fsum

from flashbed.guest_output import medium_counters
from flashbed.guest_output.steadiness import MOST_APART, PARTS, Series, series

NOTES = "programmed.bin"

SETTLED, NOT_SETTLED = "settled", "not settled"

_MOMENT = struct.Struct("<2Q")
PROGRAMMED = "flash_programmed_pages"

WHOLE = 0.9
"""The load must have run for so much of the measurement, or their halves are not the same time."""


def programmed(out: Mapping[str, bytes]) -> Series | None:
    """The flash pages that were programmed over the measurement, None where nobody noted that. Raises KeyError or
    ValueError.
    """
    if NOTES not in out:
        return None
    began, ended = medium_counters.window_ns(out)
    if len(out[NOTES]) % _MOMENT.size:
        raise ValueError(f"{NOTES} is not a row of entries of {_MOMENT.size} bytes")
    notes = [(now, pages) for now, pages in _MOMENT.iter_unpack(out[NOTES]) if began < now < ended]
    before, after = (_pages(out[name]) for name in (medium_counters.BEFORE, medium_counters.MEASURED))
    return series([((now - began) / 1e9, float(pages)) for now, pages in [(began, before), *notes, (ended, after)]])


def _pages(text: bytes) -> int:
    return medium_counters.parse(text).get(PROGRAMMED, 0)


def verdict(flash: Series | None, load: Sequence[Series]) -> str:
    """ "settled", or "not settled: " and how it moved; "" where it cannot be told. `load` is what moved in the same
    time, of each of its jobs.
    """
    if flash is None or not load or any(one.seconds < WHOLE * flash.seconds for one in load):
        return ""
    moved = [fsum(one.parts[part] for one in load) for part in range(PARTS)]
    halves = [(_half(flash.parts, late), _half(moved, late)) for late in (False, True)]
    if not all(pages and bytes_ for pages, bytes_ in halves):
        return ""
    first, second = (pages / bytes_ for pages, bytes_ in halves)
    mean = (first + second) / 2
    chance = 2 * (flash.grain / fsum(flash.parts) + fsum(one.grain for one in load) / fsum(moved)) * 2 * mean
    apart, allowed = abs(second - first), MOST_APART * mean
    if apart - chance <= allowed:
        return SETTLED if apart <= allowed and chance <= allowed else ""
    return (
        f"{NOT_SETTLED}: write amplification {'rises' if second > first else 'falls'} by "
        f"{100 * apart / max(first, second):.0f} % from its first half to its second"
    )


def _half(parts: Sequence[float], late: bool) -> float:
    middle = len(parts) // 2
    return fsum(parts[middle:] if late else parts[:middle])
