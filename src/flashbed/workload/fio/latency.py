# SPDX-License-Identifier: Apache-2.0
"""Compute latencies of requests and flushes from fio's output.

fio's JSON has a distribution for each kind of call. Its bins (json+) may be added, so the percentiles of several kinds
together, flushes included, are exact to fio's own steps (1.6 % of the value). The joint duration of a write and its
flush does not follow from two distributions. So if each request is flushed, fio logs the time of each call
(write_iolog, version 3, us). From one line to the next is the call plus fio's own work. The sums of all calls, which
fio knows to the nanosecond, give fio's share.

Must not know jobs, nor which of them count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import fsum
from typing import Any, NamedTuple

from flashbed.guest_output.percentiles import PERCENTILES
from flashbed.workload.base import WorkloadOutputError

CallLine = tuple[int, str, int]
"""Time in us, action, and bytes."""

_CALL_LINE = re.compile(r"^([0-9]+) \S+ (\w+)(?: [0-9]+ ([0-9]+))?$", re.MULTILINE)


@lru_cache(maxsize=16)
def call_lines(log: bytes) -> tuple[CallLine, ...]:
    """Return all lines except the first, which names the format. Raises WorkloadOutputError."""
    _, _, text = log.decode(errors="replace").partition("\n")
    lines = tuple((int(at), action, int(length or 0)) for at, action, length in _CALL_LINE.findall(text))
    if len(lines) != len(text.splitlines()):
        bad = next(line for line in text.splitlines() if not _CALL_LINE.fullmatch(line))
        raise WorkloadOutputError(f"a log of fio's calls has a line of another form: {bad[:80]}")
    return lines


LATENCY_LOG = "calls.{}.log"
"""The log of a process, by its number."""

_REQUESTS, _FLUSH = ("read", "write"), "sync"
_CALLS = (*_REQUESTS, _FLUSH)
_END = "close"


class Call(NamedTuple):
    """A system call of fio, with fio's own work until the next call."""

    action: str
    took_us: float


def waits(prefix: str, distributions: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return mean, percentiles and maximum in us over all of `distributions`, which are fio's "lat_ns" objects. Skip
    those without a sample.

    Percentiles of several distributions need bins; without bins they are absent.
    """
    sampled = [distribution for distribution in distributions if distribution.get("N")]
    if not sampled:
        return {}
    number = sum(distribution["N"] for distribution in sampled)
    longest_us = max(distribution["max"] for distribution in sampled) / 1e3
    metrics = {
        f"{prefix}_mean_us": fsum(distribution["mean"] * distribution["N"] for distribution in sampled) / number / 1e3
    }
    if all(distribution.get("bins") for distribution in sampled):
        bins: Counter[int] = Counter()
        for distribution in sampled:
            bins.update({int(value): count for value, count in distribution["bins"].items()})
        metrics |= {f"{prefix}_{name}_us": min(_of_bins(bins, p) / 1e3, longest_us) for name, p in PERCENTILES.items()}
    elif len(sampled) == 1:
        percentiles = sampled[0].get("percentile", {})
        keys = {name: f"{p:.6f}" for name, p in PERCENTILES.items()}
        metrics |= {f"{prefix}_{name}_us": percentiles[key] / 1e3 for name, key in keys.items() if key in percentiles}
    return {**metrics, f"{prefix}_max_us": longest_us}


def _of_bins(bins: Mapping[int, int], percent: float) -> float:
    """Return the percentile as fio computes it: the smallest value that `percent` of the samples do not exceed."""
    rank, so_far = percent / 100 * sum(bins.values()), 0
    for value in sorted(bins):
        so_far += bins[value]
        if so_far >= rank:
            return float(value)
    return float(max(bins))


def logged_calls(logs: Iterable[bytes], calls_ns: float) -> list[list[Call]]:
    """Return the calls of each process from its log. `calls_ns` is the sum of all calls except each process's final
    flush, which fio does not count.

    fio's own time per call is the excess of the logs over that sum, spread evenly. Raises WorkloadOutputError.
    """
    processes = [_calls(log) for log in logs]
    counted = [call.took_us for calls in processes for call in calls[:-1]]
    own_us = max(0.0, (fsum(counted) - calls_ns / 1e3) / len(counted)) if counted else 0.0
    return [[Call(call.action, max(0.0, call.took_us - own_us)) for call in calls] for calls in processes]


def durable_us(calls: Iterable[Call]) -> list[float]:
    """Return for each request of a process the time until the first flush after it returned.

    When fio reopens a file to start again at its beginning, it flushes once more before it writes.
    """
    durations_us: list[float] = []
    flushed = True
    for call in calls:
        if call.action in _REQUESTS:
            durations_us.append(call.took_us)
        elif not flushed:
            durations_us[-1] += call.took_us
        flushed = call.action not in _REQUESTS
    return durations_us


def last_flush_us(calls: Sequence[Call]) -> float | None:
    """Return the duration of a process's final flush; None if its last call is no flush."""
    return calls[-1].took_us if calls and calls[-1].action == _FLUSH else None


def _calls(log: bytes) -> list[Call]:
    """Return the calls of a log. A call lasts until the next line. If a file is written more than once, fio closes and
    reopens it between the passes.
    """
    lines = call_lines(log)
    calls = [Call(action, after - at) for (at, action, _), (after, _, _) in pairwise(lines) if action in _CALLS]
    if not calls or lines[-1][1] != _END:
        raise WorkloadOutputError("a log of fio's calls does not go to the end of the job")
    return calls
