# SPDX-License-Identifier: Apache-2.0
"""Apply limits on regressions, chosen or default, to each cell that both sets have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flashbed.common.errors import FlashbedError, InputError
from flashbed.common.tomlfile import nearest
from flashbed.comparing.change import Change
from flashbed.comparing.compared_cells import CPU_TIME, Compared, ComparedCell
from flashbed.result.metrics import Better

REBUILD = 0.0025
"""The default limit, as a share of 1. The same code at other addresses moves CPU time by up to 0.1 % and mounting by
0.16 % (docs/compare.md). All seeds move to the same side, so no test of chance can tell that from a regression.
"""

PERCENTILE = 0.02
"""The default limit on a percentile. fio counts in steps of 1.6 % of the value, and a rebuild may move all seeds by one
step.
"""

SPEED = (
    "bandwidth",
    "operations",
    "commit_mean_us",
    "commit_p99_us",
    "latency_mean_us",
    "latency_p99_us",
)
"""Throughput and latency. Users of a file system notice them, so they have a limit whatever a study asks about."""

_OF_PERCENTILES = re.compile(r"_p[0-9]+_us$")


class NotComparable(FlashbedError):
    """The two sets have nothing in common that could be compared."""

    exit_code = 6


class Regression(FlashbedError):
    """B is worse than A by more than a limit."""

    exit_code = 5


@dataclass(frozen=True)
class ChangeLimit:
    """The most by which a figure may become worse, as a share of 1."""

    metric: str
    share: float


@dataclass(frozen=True)
class Broken:
    """A figure of a cell beyond its limit. It is worse by `share`, a share of 1."""

    cell: ComparedCell
    metric: str
    share: float
    change: Change


def parse(texts: Sequence[str]) -> list[ChangeLimit]:
    """Return the limits of texts such as "bandwidth=2 %" or "bandwidth=2". Raises InputError."""
    return [_limit(text) for text in texts]


def _limit(text: str) -> ChangeLimit:
    name, equals, number = text.partition("=")
    try:
        percent = float(number.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not equals or not 0 <= percent < float("inf"):
        raise InputError(f"--limit {text}: write METRIC=PERCENT, such as bandwidth=2: worse by more than that fails")
    return ChangeLimit(name.strip(), percent / 100)


def default(compared: Sequence[Compared]) -> list[ChangeLimit]:
    """Return the limits that apply if the user chooses none: on throughput, latency, the metrics of the studies'
    questions, and CPU time. They allow what a rebuild may cause.
    """
    names = dict.fromkeys((*SPEED, *(name for pair in compared for name in pair.a.headline), CPU_TIME))
    known = [name for name in names if any(name in pair.figures and pair.better(name) for pair in compared)]
    return [ChangeLimit(name, PERCENTILE if _OF_PERCENTILES.search(name) else REBUILD) for name in known]


def check(limits: Sequence[ChangeLimit], compared: Sequence[Compared]) -> None:
    """Check that a cell could break each limit. Raises InputError for an unknown figure and for one without a better
    direction, NotComparable for a figure that no cell has in both sets.
    """
    known = dict.fromkeys(name for pair in compared for name in pair.metrics)
    for limit in limits:
        if limit.metric not in known:
            raise InputError(f"--limit {limit.metric}: no figure of these results{nearest(limit.metric, known)}")
        if not any(pair.better(limit.metric) for pair in compared):
            raise InputError(
                f"--limit {limit.metric}: neither more nor less of it is better, so it cannot have a limit"
            )
        if not any(limit.metric in pair.figures for pair in compared):
            raise NotComparable(f"--limit {limit.metric}: no cell has it in both sets, so nothing could break it")


def broken(limits: Sequence[ChangeLimit], compared: Compared) -> Iterator[Broken]:
    """Yield the figures that are worse by more than their limit, and not by chance: in the order of the limits, the
    worst first. With a single seed the limit applies without a test of chance.
    """
    for limit in limits:
        beyond = []
        for cell in compared.cells:
            change = cell.changes.get(limit.metric)
            if change is None or not (change.is_telling or change.seeds == 1):
                continue
            worse = worse_by(change.mean, compared.better(limit.metric))
            if worse > limit.share:
                beyond.append(Broken(cell, limit.metric, worse, change))
        yield from sorted(beyond, key=lambda figure: -figure.share)


def worse_by(share: float, better: Better) -> float:
    """Return by how much a change makes a figure worse, as a share of 1; negative if it makes it better."""
    return {"higher": -share, "lower": share, None: 0.0}[better]
