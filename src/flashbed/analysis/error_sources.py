# SPDX-License-Identifier: Apache-2.0
"""Which model's error is in a cell's figure: its medium's under the kind of load that reached it, or its board's CPU's.

The kind of load is told by the medium's own counters, for the page cache makes other requests than the program. Knows
the columns of the results table; must not know claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

from flashbed.analysis.claim_errors import Source, SourceOf
from flashbed.analysis.decisive import MEMORY, Doubt, doubts
from flashbed.analysis.model_error import Load, class_of, model_error
from flashbed.analysis.results import Combination, Results
from flashbed.common.units import parse_size

OTHER_DEVICE = 2.0
"""The error where fewer than ENOUGH figures of a class were published (model_error.toml)."""

ENOUGH = 3

CPU_FACTOR = 3.5
"""By so much a board's CPU may be too fast: an instruction takes it about a cycle, and published NVMe hosts write at
random no faster than a board of 800 MIPS, where this lab's has 2830 (docs/accuracy.md, "Why rows are off"; 2830 / 800).
"""

BLOCK = 4096
"""The page cache writes no less at a time."""

MERGED = 2
"""Requests that reach the medium in the mean so many times as large as the program's were put in order by the page
cache.
"""

IN_ORDER = 128 << 10
"""A load that does not tell its order went in order if the medium's requests have this size: Linux's readahead."""

FLUSHED = 4
"""Writes are flushed one by one where a flush comes to at most so many: an fsync writes data, and a journal twice."""

PHASES: Mapping[str, Load] = {
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
"""The loads of Bonnie's and iozone's phases; counters are of a whole measurement."""


def sources(results: Results, fixed: Mapping[str, str]) -> SourceOf:
    """Return what names the source of error of a cell and metric; `fixed` has the parameters on no axis."""
    counted: dict[Combination, Counter[str]] = {}
    for repetition in results.repetitions:
        counted.setdefault(repetition.combination, Counter()).update(repetition.counted)

    @cache
    def doubts_of(metric: str) -> Mapping[Combination, Doubt]:
        return doubts(results, metric)

    def source(cell: Combination, metric: str) -> Source | None:
        said = {**fixed, **results.coordinates(cell)}
        limit, doubt = results.limits.get(cell, ""), doubts_of(metric).get(cell)
        if limit == "cpu" or (doubt and doubt.kind in (*MEMORY, "CPU")):
            return Source(_name(said["board"]), "", CPU_FACTOR, is_too_fast=True) if "board" in said else None
        if limit in ("link", "load") or "medium" not in said:
            return None
        phase = PHASES.get(metric.removesuffix("_s").removesuffix("_bandwidth"))
        return of_medium(said["medium"], phase or load(counted.get(cell, Counter()), said))

    return source


def of_medium(medium: str, kind: Load) -> Source | None:
    """Return the source of error of a medium under a load; None for a medium of which no figures were published."""
    if class_of(medium) is None:
        return None
    error = model_error(medium, kind)
    few = error is None or error.figures < ENOUGH
    return Source(_name(medium), kind, max(error.factor if error else 1.0, OTHER_DEVICE if few else 1.0))


def load(counted: Mapping[str, int], said: Mapping[str, str]) -> Load:
    """Return the kind of load that a medium saw, by its counters and the parameters of the program. A raw chip counts
    pages, and minds no order.
    """
    pattern = said.get("pattern", "")
    if "host_writes" not in counted and "flash_programmed_pages" in counted:
        writes = counted["flash_programmed_pages"] >= counted.get("flash_read_pages", 0)
        return "sequential write" if writes else "sequential read"
    moved = {"read": counted.get("host_read_bytes", 0), "write": counted.get("host_written_bytes", 0)}
    writes = moved["write"] >= moved["read"] if any(moved.values()) else not pattern.endswith("read")
    requests = counted.get("host_writes" if writes else "host_reads", 0)
    if writes and requests and counted.get("host_flushes", 0) * FLUSHED >= requests:
        return "flush"
    if _is_in_order(moved["write" if writes else "read"] / requests if requests else 0.0, said):
        return "sequential write" if writes else "sequential read"
    return "random write" if writes else "random read"


def _is_in_order(mean_bytes: float, said: Mapping[str, str]) -> bool:
    pattern = said.get("pattern", "")
    if not pattern:
        return mean_bytes >= IN_ORDER
    if not pattern.startswith("rand"):
        return True
    return mean_bytes >= MERGED * max(_request_bytes(said), BLOCK)


def _request_bytes(said: Mapping[str, str]) -> int:
    """A job of the user's may have anything under this name."""
    try:
        return parse_size(said.get("request", ""))
    except ValueError:
        return BLOCK


def _name(profile: str) -> str:
    return profile.partition(":")[0]
