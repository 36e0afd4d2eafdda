# SPDX-License-Identifier: Apache-2.0
"""The error of the models against published figures of real devices, and how much of it is left in a ratio of figures.

model_error.toml lists the errors, by class of medium and kind of load; `make accuracy` writes it. Each source of error
is one unknown factor, the same in every cell that it decides: a medium under one kind of load, or a board's CPU. In a
ratio it cancels as far as it is on both sides. The rest of several sources is combined as independent errors are, by
the root of the sum of squares of their logarithms. The medium's own counters tell the kind of load, for the page cache
makes other requests than the program. Must not know how a figure was measured, nor claims.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from flashbed.analysis.decisive import MEMORY, Doubt, doubts
from flashbed.analysis.study_results import Results
from flashbed.common.units import parse_size
from flashbed.profiles.library import Selector
from flashbed.result.columns import Combination
from flashbed.result.metrics import METRICS
from flashbed.study.claim_rules import TIME_UNITS

LoadKind = Literal["random read", "random write", "sequential read", "sequential write", "flush"]

MODEL_ERROR_FILE = Path(__file__).with_name("model_error.toml")


@dataclass(frozen=True)
class ModelError:
    """The error of one class of medium under one kind of load.

    `factor` is the stated error: 9 of 10 published figures (all of them, if there are fewer than 10) are at most this
    many times above or below the model. `lowest` and `highest` are the least and the largest ratio of the model's rate
    to a published one, over all `figures`.
    """

    factor: float
    lowest: float
    highest: float
    figures: int


def _read_file() -> tuple[dict[str, str], dict[tuple[str, str], ModelError]]:
    """Return the class of each medium, and the error of each class and kind of load."""
    tables = tomllib.loads(MODEL_ERROR_FILE.read_text(encoding="utf-8"))
    classes = {medium: name for name, table in tables.items() for medium in table["media"]}
    errors = {
        (name, load): ModelError(**table[load]) for name, table in tables.items() for load in table if load != "media"
    }
    return classes, errors


_CLASSES, _ERRORS = _read_file()


def class_of(medium: str) -> str | None:
    """Return the class of a shipped medium, given as in a study ("emmc-64g:used_bytes=2G"); None if it has none.

    A profile of the user's own has no class, whatever its numbers are.
    """
    return _CLASSES.get(Selector.name_of(medium))


def model_error(medium: str, load: LoadKind) -> ModelError | None:
    """Return the error of a shipped medium under a load; None if no published figure tells of it."""
    medium_class = class_of(medium)
    return _ERRORS.get((medium_class, load)) if medium_class else None


SAME_LOAD = 1.03
"""The error that is left if all else cancels: another build of the same kernel moves a figure by up to 3 %
(docs/generated/accuracy.md, "In the guest").
"""

RATE_UNITS = ("MiB/s", "1/s", "per s")
"""Units of metrics that are rates. Rates and times contain an error of speed."""

NO_LOADS = ("mount_", "boot_", "service_", "warm_up_", "late_", "offered_")
"""The beginnings of times and rates that are not the speed of a load."""


@dataclass(frozen=True)
class Source:
    """A model that may be off by `factor`: the rates of a medium under one kind of load, or of a board's CPU."""

    of: str
    """The profile of the medium or the board."""
    load: str
    """The kind of load, as model_error.toml names it; empty for a CPU."""
    factor: float
    is_too_fast: bool = False
    """The error runs one way: the real rate is lower than the model's, by up to `factor`."""


SourceOf = Callable[[Combination, str], Source | None]
"""Name the source of error of a cell's metric; None if nothing is known of it."""


@dataclass(frozen=True)
class ErrorLeft:
    """What the errors leave open: the real ratio is at most `below` times smaller or `above` times larger."""

    below: float
    above: float
    sources: tuple[Source, ...]
    """The sources that do not cancel; if there are none, SAME_LOAD is left."""

    def widened(self, low: float, high: float) -> tuple[float, float]:
        """Return the interval in which the real ratio may lie."""
        return low / self.below, high * self.above


def has_speed_error(metric: str) -> bool:
    """True if a metric is a rate or a time of a load: what counts requests, bytes or erases has no error of speed."""
    known = METRICS.get(metric)
    return known is not None and known.unit in (*RATE_UNITS, *TIME_UNITS) and not metric.startswith(NO_LOADS)


def left_over(exponents: Iterable[tuple[Combination, float]], metric: str, source_of: SourceOf) -> ErrorLeft | None:
    """Return the error left in a product of cells' figures, each with its exponent; None if the metric has none."""
    if not has_speed_error(metric):
        return None
    rate = -1.0 if METRICS[metric].unit in TIME_UNITS else 1.0
    net: dict[Source, float] = {}
    for cell, exponent in exponents:
        source = source_of(cell, metric)
        if source is not None:
            net[source] = net.get(source, 0.0) + rate * exponent
    left = {source: exponent for source, exponent in net.items() if abs(exponent) > 1e-9}
    squares = {source: (exponent * math.log(source.factor)) ** 2 for source, exponent in left.items()}
    floor = math.log(SAME_LOAD) ** 2
    down = [square for source, square in squares.items() if not source.is_too_fast or left[source] > 0]
    up = [square for source, square in squares.items() if not source.is_too_fast or left[source] < 0]
    return ErrorLeft(
        below=math.exp(math.sqrt(math.fsum([floor, *down]))),
        above=math.exp(math.sqrt(math.fsum([floor, *up]))),
        sources=tuple(left),
    )


OTHER_DEVICE = 2.0
"""The error if fewer than ENOUGH_FIGURES figures of a class were published (model_error.toml)."""

ENOUGH_FIGURES = 3

CPU_FACTOR = 3.5
"""The factor by which a board's CPU may be too fast: an instruction takes it about a cycle, and published NVMe hosts
write at random no faster than a board of 800 MIPS, where this lab's has 2830 (docs/generated/accuracy.md, "Why rows are
off"; 2830 / 800).
"""

LEAST_WRITE_BYTES = 4096
"""The least that the page cache writes at a time, in bytes."""

MERGED_RATIO = 2
"""If the mean request at the medium is this many times as large as the program's, the page cache put them in order."""

IN_ORDER = 128 << 10
"""A load of unknown order was sequential if the medium's mean request has this many bytes, the size of Linux's
readahead.
"""

FLUSHED = 4
"""Writes are flushed one by one if at most this many come to a flush: an fsync writes data, and a journal twice."""

LOAD_OF_PHASE: Mapping[str, LoadKind] = {
    "char_output": "sequential write",
    "block_output": "sequential write",
    "write": "sequential write",
    "rewrite": "sequential write",
    "char_input": "sequential read",
    "block_input": "sequential read",
    "read": "sequential read",
    "reread": "sequential read",
    "random_seeks": "random read",
}
"""The kinds of load of Bonnie's and iozone's phases; counters are of a whole measurement."""


def sources(results: Results, fixed: Mapping[str, str]) -> SourceOf:
    """Return a function that names the source of error of a cell's metric; `fixed` has the parameters on no axis."""
    counted: dict[Combination, Counter[str]] = {}
    for repetition in results.repetitions:
        counted.setdefault(repetition.combination, Counter()).update(repetition.counted)

    @cache
    def doubts_of(metric: str) -> Mapping[Combination, Doubt]:
        return doubts(results, metric)

    def source(cell: Combination, metric: str) -> Source | None:
        parameters = {**fixed, **results.coordinates(cell)}
        limit, doubt = results.limits.get(cell, ""), doubts_of(metric).get(cell)
        if limit == "cpu" or (doubt and doubt.kind in (*MEMORY, "CPU")):
            board = parameters.get("board")
            return None if board is None else Source(Selector.name_of(board), "", CPU_FACTOR, is_too_fast=True)
        if limit in ("link", "load") or "medium" not in parameters:
            return None
        phase = LOAD_OF_PHASE.get(metric.removesuffix("_s").removesuffix("_bandwidth"))
        return of_medium(parameters["medium"], phase or load_of(counted.get(cell, Counter()), parameters))

    return source


def of_medium(medium: str, kind: LoadKind) -> Source | None:
    """Return the source of error of a medium under a load; None for a medium of which no figures were published."""
    if class_of(medium) is None:
        return None
    error = model_error(medium, kind)
    few = error is None or error.figures < ENOUGH_FIGURES
    return Source(Selector.name_of(medium), kind, max(error.factor if error else 1.0, OTHER_DEVICE if few else 1.0))


def load_of(counted: Mapping[str, int], parameters: Mapping[str, str]) -> LoadKind:
    """Return the kind of load that a medium saw, by its counters and the parameters of the program. A raw chip counts
    pages, and their order does not matter.
    """
    pattern = parameters.get("pattern", "")
    if "host_writes" not in counted and "flash_programmed_pages" in counted:
        writes = counted["flash_programmed_pages"] >= counted.get("flash_read_pages", 0)
        return "sequential write" if writes else "sequential read"
    moved = {"read": counted.get("host_read_bytes", 0), "write": counted.get("host_written_bytes", 0)}
    writes = moved["write"] >= moved["read"] if any(moved.values()) else not pattern.endswith("read")
    requests = counted.get("host_writes" if writes else "host_reads", 0)
    if writes and requests and counted.get("host_flushes", 0) * FLUSHED >= requests:
        return "flush"
    if _is_in_order(moved["write" if writes else "read"] / requests if requests else 0.0, parameters):
        return "sequential write" if writes else "sequential read"
    return "random write" if writes else "random read"


def _is_in_order(mean_bytes: float, parameters: Mapping[str, str]) -> bool:
    """True if requests of this mean size were sequential at the medium."""
    pattern = parameters.get("pattern", "")
    if not pattern:
        return mean_bytes >= IN_ORDER
    if not pattern.startswith("rand"):
        return True
    return mean_bytes >= MERGED_RATIO * max(_request_bytes(parameters), LEAST_WRITE_BYTES)


def _request_bytes(parameters: Mapping[str, str]) -> int:
    """Return the request size; LEAST_WRITE_BYTES if the parameter is no size, as in a job of the user's."""
    try:
        return parse_size(parameters.get("request", ""))
    except ValueError:
        return LEAST_WRITE_BYTES
