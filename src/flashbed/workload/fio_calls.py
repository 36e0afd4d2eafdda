# SPDX-License-Identifier: Apache-2.0
"""fio's log of its own calls (write_iolog), read line by line.

A log may have 100,000 lines and is looked at for latencies and for the rate, so it is parsed once, by one expression.
Format: iolog version 3 of fio, its times in us.
"""

from __future__ import annotations

import re
from functools import lru_cache

from flashbed.workload.base import WorkloadOutputError

Line = tuple[int, str, int]
"""When in us, what, and with how many bytes."""

_LINE = re.compile(r"^([0-9]+) \S+ (\w+)(?: [0-9]+ ([0-9]+))?$", re.MULTILINE)


@lru_cache(maxsize=16)
def lines(log: bytes) -> tuple[Line, ...]:
    """All lines but the first, which names the format. Raises WorkloadOutputError."""
    _, _, text = log.decode(errors="replace").partition("\n")
    found = tuple((int(at), action, int(length or 0)) for at, action, length in _LINE.findall(text))
    if len(found) != len(text.splitlines()):
        bad = next(line for line in text.splitlines() if not _LINE.fullmatch(line))
        raise WorkloadOutputError(f"a log of fio's calls has a line that is none: {bad[:80]}")
    return found
