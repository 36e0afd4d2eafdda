# SPDX-License-Identifier: Apache-2.0
"""How long a program waits for its requests and its flushes, from what fio leaves behind.

fio's JSON has a distribution of each kind of call. Its bins (json+) may be added up, so that the percentiles of several
kinds, flushes among them, are exact in fio's own steps (1.6 % of the value). What a write and the flush behind it take
together cannot be told from two distributions. So where each request is flushed, fio writes down when it makes each
call (write_iolog, version 3, us); the time from one such line to the next is a call, and fio's own work. The sums of
all calls, which fio knows to the nanosecond, tell how much of it is fio's.

Must not know jobs, nor which of them count.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import fsum
from typing import Any, NamedTuple

from flashbed.workload.base import WorkloadOutputError

CallLine = tuple[int, str, int]
"""When in us, what, and with how many bytes."""

_CALL_LINE = re.compile(r"^([0-9]+) \S+ (\w+)(?: [0-9]+ ([0-9]+))?$", re.MULTILINE)


@lru_cache(maxsize=16)
def call_lines(log: bytes) -> tuple[CallLine, ...]:
    """All lines but the first, which names the format. Raises WorkloadOutputError."""
    _, _, text = log.decode(errors="replace").partition("\n")
    found = tuple((int(at), action, int(length or 0)) for at, action, length in _CALL_LINE.findall(text))
    if len(found) != len(text.splitlines()):
        bad = next(line for line in text.splitlines() if not _CALL_LINE.fullmatch(line))
        raise WorkloadOutputError(f"a log of fio's calls has a line that is none: {bad[:80]}")
    return found


PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}

LOG = "calls.{}.log"
"""The log of a process, by its number."""

_REQUESTS, _FLUSH = ("read", "write"), "sync"
_CALLS = (*_REQUESTS, _FLUSH)
_END = "close"


class Call(NamedTuple):
    """A system call of the program, with fio's own work until the next one."""

    action: str
    took_us: float


def waits(prefix: str, distributions: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Mean, percentiles and maximum in us over all of `distributions`, fio's "lat_ns" objects; those without a sample
    say nothing.

    Percentiles are absent where they cannot be known: of several distributions without bins.
    """
    told = [one for one in distributions if one.get("N")]
    if not told:
        return {}
    number = sum(one["N"] for one in told)
    longest_us = max(one["max"] for one in told) / 1e3
    found = {f"{prefix}_mean_us": fsum(one["mean"] * one["N"] for one in told) / number / 1e3}
    if all(one.get("bins") for one in told):
        bins: Counter[int] = Counter()
        for one in told:
            bins.update({int(value): count for value, count in one["bins"].items()})
        found |= {f"{prefix}_{name}_us": min(_of_bins(bins, p) / 1e3, longest_us) for name, p in PERCENTILES.items()}
    elif len(told) == 1:
        known = told[0].get("percentile", {})
        keys = {name: f"{p:.6f}" for name, p in PERCENTILES.items()}
        found |= {f"{prefix}_{name}_us": known[key] / 1e3 for name, key in keys.items() if key in known}
    return {**found, f"{prefix}_max_us": longest_us}


def _of_bins(bins: Mapping[int, int], percent: float) -> float:
    """The smallest value that is not exceeded by so many percent of the samples, as fio itself does it."""
    wanted, so_far = percent / 100 * sum(bins.values()), 0
    for value in sorted(bins):
        so_far += bins[value]
        if so_far >= wanted:
            return float(value)
    return float(max(bins))


def of_samples(prefix: str, samples_us: Sequence[float]) -> dict[str, float]:
    """The same from single samples: percentiles by nearest rank."""
    ordered = sorted(samples_us)
    ranks = {name: max(math.ceil(p / 100 * len(ordered)), 1) - 1 for name, p in PERCENTILES.items()}
    return {
        f"{prefix}_mean_us": fsum(ordered) / len(ordered),
        **{f"{prefix}_{name}_us": ordered[rank] for name, rank in ranks.items()},
        f"{prefix}_max_us": ordered[-1],
    }


def logged_calls(logs: Iterable[bytes], calls_ns: float) -> list[list[Call]]:
    """The calls of each process, from its log. `calls_ns` is what all calls together took, but for the last of each
    process, which fio does not count: the flush at the end.

    fio's own time for a call is what the logs have beyond that, spread evenly. Raises WorkloadOutputError.
    """
    processes = [_calls(log) for log in logs]
    counted = [call.took_us for calls in processes for call in calls[:-1]]
    own_us = max(0.0, (fsum(counted) - calls_ns / 1e3) / len(counted)) if counted else 0.0
    return [[Call(call.action, max(0.0, call.took_us - own_us)) for call in calls] for calls in processes]


def durable_us(calls: Iterable[Call]) -> list[float]:
    """How long each request of a process took, until the first flush behind it had returned.

    When fio opens a file again to go on at its beginning, it flushes once more before it writes.
    """
    found: list[float] = []
    flushed = True
    for call in calls:
        if call.action in _REQUESTS:
            found.append(call.took_us)
        elif not flushed:
            found[-1] += call.took_us
        flushed = call.action not in _REQUESTS
    return found


def last_flush_us(calls: Sequence[Call]) -> float | None:
    """The flush at the end of a process, if its last call is one."""
    return calls[-1].took_us if calls and calls[-1].action == _FLUSH else None


def _calls(log: bytes) -> list[Call]:
    """A call lasts until the next line. A file that is gone through more than once is closed and opened again in
    between.
    """
    said = call_lines(log)
    calls = [Call(action, after - at) for (at, action, _), (after, _, _) in pairwise(said) if action in _CALLS]
    if not calls or said[-1][1] != _END:
        raise WorkloadOutputError("a log of fio's calls does not go to the end of the job")
    return calls
