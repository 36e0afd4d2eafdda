# SPDX-License-Identifier: Apache-2.0
"""Compute how busy the board's CPUs were while a workload ran, from idle times that the guest noted.

Everything that is not idle time counts, interrupts too: with PIO the CPU moves data in an interrupt, which no process
is charged for. A CPU is idle while it has nothing to run; a CPU that spins for a lock is busy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

IDLE_BEFORE, IDLE_MEASURED = "idle.before", "idle.measured"
"""Moments: the files that guest/cell leaves, with lines of /proc/timer_list."""

NotedWindow = tuple[str, str]
"""The moments at which a window begins and ends."""

MEASUREMENT_WINDOW: NotedWindow = (IDLE_BEFORE, IDLE_MEASURED)
LOAD_WINDOW: NotedWindow = ("idle.load.begun", "idle.load.ended")
"""The window of a tool that measures only a part of the measurement."""

_NOW = re.compile(rb"now at (\d+) nsecs")
_ASLEEP = re.compile(rb"(?:idle|iowait)_sleeptime\s*: (\d+) nsecs")


def percent(out: Mapping[str, bytes]) -> float:
    """Return the mean load of all CPUs over the measurement in percent, the start of the tool included. Raises KeyError
    or ValueError.
    """
    busy = each_busy_ns(out)
    return 100.0 * sum(busy) / (len(busy) * length_ns(out))


def several(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the load of the busiest CPU in percent, for a board with several CPUs. Raises KeyError or ValueError."""
    busy = each_busy_ns(out)
    return {"busiest_cpu_percent": 100.0 * max(busy) / length_ns(out)} if len(busy) > 1 else {}


def notes_load(out: Mapping[str, bytes]) -> bool:
    """Return True if the tool noted when its load began and ended."""
    return set(LOAD_WINDOW) <= set(out)


def window_ns(out: Mapping[str, bytes], window: NotedWindow = MEASUREMENT_WINDOW) -> tuple[int, int]:
    """Return when the window began and ended, ns since the guest's boot. Raises KeyError or ValueError."""
    began, ended = (_times_ns(out[name])[0] for name in window)
    return began, ended


def length_ns(out: Mapping[str, bytes], window: NotedWindow = MEASUREMENT_WINDOW) -> int:
    """Return the length of the window, ns. Raises KeyError or ValueError."""
    began, ended = window_ns(out, window)
    return ended - began


def busy_ns(out: Mapping[str, bytes]) -> int:
    """Return the CPU time over the measurement, ns; with several CPUs, that of the busiest. Raises KeyError or
    ValueError.
    """
    return max(each_busy_ns(out))


def each_busy_ns(out: Mapping[str, bytes], window: NotedWindow = MEASUREMENT_WINDOW) -> list[int]:
    """Return the CPU time of each CPU in the window, ns. Raises KeyError or ValueError.

    The guest wakes each CPU and then reads the idle times, which lack the sleep that a CPU has begun since. So a CPU
    that sleeps at the beginning can seem idle for longer than the window; its CPU time is 0.
    """
    (began, asleep_before), (ended, asleep_after) = (_times_ns(out[name]) for name in window)
    if len(asleep_before) != len(asleep_after):
        raise ValueError("the guest noted idle times of one number of CPUs at the beginning, and of another at the end")
    asleep = [after - before for before, after in zip(asleep_before, asleep_after, strict=True)]
    return [max(0, (ended - began) - time) for time in asleep]


def now_ns(text: bytes) -> int:
    """Return the present time in lines of /proc/timer_list, ns since the guest's boot. Raises ValueError."""
    now = _NOW.search(text)
    if now is None:
        raise ValueError("what the guest noted has no time")
    return int(now[1])


def _times_ns(text: bytes) -> tuple[int, list[int]]:
    """Return the present time, and the idle time of each CPU since boot, ns. The guest notes two parts of it: without
    and with a request to a medium in flight.
    """
    asleep = [int(ns) for ns in _ASLEEP.findall(text)]
    if not asleep or len(asleep) % 2:
        raise ValueError("what the guest noted has no idle times")
    return now_ns(text), [sum(pair) for pair in zip(asleep[::2], asleep[1::2], strict=True)]
