# SPDX-License-Identifier: Apache-2.0
"""How busy the board's CPU was while a workload ran, from the idle times that the guest noted.

Counts all that is not idleness, interrupts too: data that the CPU moves for a PIO medium are moved in an interrupt,
which no process is charged for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

BEFORE, MEASURED = "idle.before", "idle.measured"
"""Moments: the files that guest/cell leaves, with lines of /proc/timer_list."""

_NOW = re.compile(rb"now at (\d+) nsecs")
_ASLEEP = re.compile(rb"(?:idle|iowait)_sleeptime\s*: (\d+) nsecs")


def percent(out: Mapping[str, bytes]) -> float:
    """CPU load in percent over the measurement, the start of the tool included. Raises KeyError or ValueError."""
    began, ended = window_ns(out)
    return 100.0 * busy_ns(out) / (ended - began)


def window_ns(out: Mapping[str, bytes]) -> tuple[int, int]:
    """When the measurement began and ended, ns since the guest's boot. Raises KeyError or ValueError."""
    began, ended = (_times_ns(out[name])[0] for name in (BEFORE, MEASURED))
    return began, ended


def busy_ns(out: Mapping[str, bytes]) -> int:
    """CPU time over the measurement, ns. Raises KeyError or ValueError."""
    (began, asleep_before), (ended, asleep_after) = (_times_ns(out[name]) for name in (BEFORE, MEASURED))
    return (ended - began) - (asleep_after - asleep_before)


def _times_ns(text: bytes) -> tuple[int, int]:
    """Now, and how long the CPU has been idle since boot."""
    now, asleep = _NOW.search(text), _ASLEEP.findall(text)
    if now is None or len(asleep) < 2:
        raise ValueError("no idle times in what the guest noted")
    return int(now[1]), sum(int(ns) for ns in asleep)
