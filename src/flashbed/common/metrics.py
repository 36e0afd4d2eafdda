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


COUNTED = "counted."
"""What columns begin with that hold what was counted, and are no metrics: CPU time, requests, bytes, pages, erases."""

METRICS = _read()
"""All metrics by name, in the order of a table's columns."""
