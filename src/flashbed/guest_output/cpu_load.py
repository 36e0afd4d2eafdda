# SPDX-License-Identifier: Apache-2.0
"""How busy the board's CPUs were while a workload ran, from the idle times that the guest noted.

Counts all that is not idleness, interrupts too: data that the CPU moves for a PIO medium are moved in an interrupt,
which no process is charged for. A CPU is idle while nothing wants it; one that spins for a lock is busy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

BEFORE, MEASURED = "idle.before", "idle.measured"
"""Moments: the files that guest/cell leaves, with lines of /proc/timer_list."""

Window = tuple[str, str]
"""From one moment to another."""

MEASUREMENT: Window = (BEFORE, MEASURED)
LOAD: Window = ("idle.load.begun", "idle.load.ended")
"""Noted by a tool that measures only a part of the measurement."""

_NOW = re.compile(rb"now at (\d+) nsecs")
_ASLEEP = re.compile(rb"(?:idle|iowait)_sleeptime\s*: (\d+) nsecs")


def percent(out: Mapping[str, bytes]) -> float:
    """CPU load in percent over the measurement, the start of the tool included: the mean of all CPUs. Raises KeyError
    or ValueError.
    """
    busy = each_busy_ns(out)
    return 100.0 * sum(busy) / (len(busy) * length_ns(out))


def several(out: Mapping[str, bytes]) -> dict[str, float]:
    """What a board with several CPUs tells beside that: the load of the busiest one, percent. Raises KeyError or
    ValueError.
    """
    busy = each_busy_ns(out)
    return {"busiest_cpu_percent": 100.0 * max(busy) / length_ns(out)} if len(busy) > 1 else {}


def notes_load(out: Mapping[str, bytes]) -> bool:
    """Whether the tool noted when its load began and ended."""
    return set(LOAD) <= set(out)


def window_ns(out: Mapping[str, bytes], window: Window = MEASUREMENT) -> tuple[int, int]:
    """When it began and ended, ns since the guest's boot. Raises KeyError or ValueError."""
    began, ended = (_times_ns(out[name])[0] for name in window)
    return began, ended


def length_ns(out: Mapping[str, bytes], window: Window = MEASUREMENT) -> int:
    """How long it was. Raises KeyError or ValueError."""
    began, ended = window_ns(out, window)
    return ended - began


def busy_ns(out: Mapping[str, bytes]) -> int:
    """CPU time over the measurement, ns; of several CPUs that of the busiest. Raises KeyError or ValueError."""
    return max(each_busy_ns(out))


def each_busy_ns(out: Mapping[str, bytes], window: Window = MEASUREMENT) -> list[int]:
    """CPU time of each CPU within it, ns. Raises KeyError or ValueError."""
    (began, asleep_before), (ended, asleep_after) = (_times_ns(out[name]) for name in window)
    if len(asleep_before) != len(asleep_after):
        raise ValueError("idle times of another number of CPUs at the end than at the beginning")
    asleep = [after - before for before, after in zip(asleep_before, asleep_after, strict=True)]
    return [(ended - began) - time for time in asleep]


def _times_ns(text: bytes) -> tuple[int, list[int]]:
    """Now, and how long each CPU has been idle since boot: a pair of times for each, of idleness and of that in which
    a request to a medium was under way.
    """
    now, asleep = _NOW.search(text), [int(ns) for ns in _ASLEEP.findall(text)]
    if now is None or not asleep or len(asleep) % 2:
        raise ValueError("no idle times in what the guest noted")
    return int(now[1]), [sum(pair) for pair in zip(asleep[::2], asleep[1::2], strict=True)]
