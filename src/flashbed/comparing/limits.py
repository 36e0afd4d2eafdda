# SPDX-License-Identifier: Apache-2.0
"""Which regressions count: limits that the user chose, held to each cell of both sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flashbed.common.errors import FlashbedError, InputError
from flashbed.common.tomlfile import nearest
from flashbed.comparing.cells import CPU_TIME, Compared, ComparedCell
from flashbed.comparing.chance import Change
from flashbed.result.metrics import Better

REBUILD = 0.0025
"""By so much a figure may be worse where nobody chose a limit, a share of 1. Code that does the same at other addresses
moves CPU time by up to 0.1 % and mounting by 0.16 % (docs/compare.md), for all seeds to the same side, which no test of
chance among seeds can tell from a regression.
"""

PERCENTILE = 0.02
"""The same of a percentile: fio counts in steps of 1.6 % of the value, and a rebuild may move all seeds by one step."""

SPEED = (
    "bandwidth",
    "operations",
    "commit_mean_us",
    "commit_p99_us",
    "latency_mean_us",
    "latency_p99_us",
)
"""Throughput and latency: what a user of the file system feels, so they have a limit whatever a study asks about."""

_OF_PERCENTILES = re.compile(r"_p[0-9]+_us$")


class NotComparable(FlashbedError):
    """The two have nothing in common that could be compared."""

    exit_code = 6


class Regression(FlashbedError):
    """B is worse than A, by what the user asked."""

    exit_code = 5


@dataclass(frozen=True)
class Limit:
    """A figure may become worse by so much, a share of 1."""

    metric: str
    share: float


@dataclass(frozen=True)
class Broken:
    """A figure of a cell that is beyond its limit; `share` is by how much it is worse."""

    cell: ComparedCell
    metric: str
    share: float
    change: Change


def parse(texts: Sequence[str]) -> list[Limit]:
    """Of "bandwidth=2 %", "bandwidth=2". Raises InputError."""
    return [_limit(text) for text in texts]


def _limit(text: str) -> Limit:
    name, equals, number = text.partition("=")
    try:
        percent = float(number.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not equals or not 0 <= percent < float("inf"):
        raise InputError(f"--limit {text}: write METRIC=PERCENT, such as bandwidth=2: worse by more than that fails")
    return Limit(name.strip(), percent / 100)


def default(compared: Sequence[Compared]) -> list[Limit]:
    """Without a choice: throughput, latency, what the studies ask about, and CPU time, may not become worse than a
    rebuild makes them.
    """
    names = dict.fromkeys((*SPEED, *(name for one in compared for name in one.a.headline), CPU_TIME))
    known = [name for name in names if any(name in one.figures and one.better(name) for one in compared)]
    return [Limit(name, PERCENTILE if _OF_PERCENTILES.search(name) else REBUILD) for name in known]


def check(limits: Sequence[Limit], compared: Sequence[Compared]) -> None:
    """Raises InputError for a figure that has no better direction or that nobody knows, NotComparable for one that no
    cell of both sets has: a limit that nothing can break is no limit.
    """
    known = dict.fromkeys(name for one in compared for name in one.metrics)
    for limit in limits:
        if limit.metric not in known:
            raise InputError(f"--limit {limit.metric}: no figure of these results{nearest(limit.metric, known)}")
        if not any(one.better(limit.metric) for one in compared):
            raise InputError(f"--limit {limit.metric}: neither more nor less of it is better, so it has no limit")
        if not any(limit.metric in one.figures for one in compared):
            raise NotComparable(f"--limit {limit.metric}: no cell has it in both sets, so nothing could break it")


def broken(limits: Sequence[Limit], compared: Compared) -> Iterator[Broken]:
    """What is worse by more than its limit, and not by chance; in the order of the limits, the worst first. A single
    seed tells nothing of chance: there the limit counts as it stands.
    """
    for limit in limits:
        beyond = []
        for cell in compared.cells:
            found = cell.changes.get(limit.metric)
            if found is None or not (found.is_telling or found.seeds == 1):
                continue
            worse = worse_by(found.mean, compared.better(limit.metric))
            if worse > limit.share:
                beyond.append(Broken(cell, limit.metric, worse, found))
        yield from sorted(beyond, key=lambda one: -one.share)


def worse_by(share: float, better: Better) -> float:
    """Return by how much a change makes a figure worse, as a share of 1; negative if it makes it better."""
    return {"higher": -share, "lower": share, None: 0.0}[better]
