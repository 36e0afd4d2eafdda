# SPDX-License-Identifier: Apache-2.0
"""The name, unit and better direction of each metric that a repetition can have: those of metrics.toml, and the figures
that programs report of themselves (own.NAME).

Must not know how a metric is measured, nor how it is drawn.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from flashbed.guest_output import own_figures

Better = Literal["higher", "lower"] | None
"""The direction that a user wants; None if neither is better."""


@dataclass(frozen=True)
class Metric:
    """One metric."""

    name: str
    title: str
    unit: str
    better: Better


class _Metrics(Mapping[str, Metric]):
    """The metrics by name. Iteration yields those of metrics.toml; the figures of programs can only be looked up."""

    def __init__(self, listed: Mapping[str, Metric]) -> None:
        self._listed = listed

    def __getitem__(self, name: str) -> Metric:
        if name not in self._listed and own_figures.is_name(name):
            unit, better = own_figures.meaning(name)
            return Metric(name, own_figures.title(name), unit, better)
        return self._listed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


def _read() -> dict[str, Metric]:
    table = tomllib.loads(Path(__file__).with_name("metrics.toml").read_text(encoding="utf-8"))
    return {name: Metric(name, entry["title"], entry["unit"], entry["better"] or None) for name, entry in table.items()}


CPU_LAYER, CPU_NS = "CPU time", "cpu_ns"
FLUSHES = "flushes"
LAYERS = {
    CPU_LAYER: (CPU_NS,),
    FLUSHES: ("host_flushes",),
    "requests": ("host_reads", "host_writes", "host_discards"),
    "bytes": ("host_read_bytes", "host_written_bytes"),
    "pages": ("flash_read_pages", "flash_programmed_pages"),
    "erases": ("flash_erased_blocks",),
}
"""Maps each layer, from the CPU to the medium, to the names of its counters. A comparison of results finds the first
layer that differs.
"""

METRICS: Mapping[str, Metric] = _Metrics(_read())
"""All metrics by name, in the order of a table's columns."""
