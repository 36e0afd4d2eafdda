# SPDX-License-Identifier: Apache-2.0
"""The name, unit and better direction of each metric that a repetition can have, as metrics.toml lists them.

Must not know how a metric is measured, nor how it is drawn.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """One metric. `better` is the direction that a user wants, or None where neither is better."""

    name: str
    title: str
    unit: str
    better: Literal["higher", "lower"] | None


def _read() -> dict[str, Metric]:
    table = tomllib.loads(Path(__file__).with_name("metrics.toml").read_text(encoding="utf-8"))
    return {name: Metric(name, said["title"], said["unit"], said["better"] or None) for name, said in table.items()}


CPU_TIME, CPU_NS = "CPU time", "cpu_ns"
FLUSHES = "flushes"
LAYERS = {
    CPU_TIME: (CPU_NS,),
    FLUSHES: ("host_flushes",),
    "requests": ("host_reads", "host_writes", "host_discards"),
    "bytes": ("host_read_bytes", "host_written_bytes"),
    "pages": ("flash_read_pages", "flash_programmed_pages"),
    "erases": ("flash_erased_blocks",),
}
"""What is counted of each layer, from the CPU to the medium, by the medium's names for its counters: a comparison of
results narrows a difference down by these.
"""

METRICS = _read()
"""All metrics by name, in the order of a table's columns."""
