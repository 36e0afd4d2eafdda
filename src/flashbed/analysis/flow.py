# SPDX-License-Identifier: Apache-2.0
"""How many of the bytes that a workload asked for reached the medium, and where memory swallowed the writes.

A write that the page cache keeps looks like a fast medium: each reader of a result must see that it is not. Knows the
metrics' names, and no workload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Literal

from flashbed.analysis.results import Combination, Results

Direction = Literal["read", "write", "either"]

SWALLOWED_BELOW = 0.5
"""The share of the bytes asked for that must reach the medium, for a cell to be said to measure the medium."""


@dataclass(frozen=True)
class Flow:
    """Bytes of one cell, medians over its seeds."""

    combination: Combination
    direction: Direction
    requested_bytes: float
    read_bytes: float
    written_bytes: float

    @property
    def reached(self) -> float:
        """What passed between the board and the medium for each byte that the workload asked for."""
        moved = {"read": self.read_bytes, "write": self.written_bytes}
        return moved.get(self.direction, self.read_bytes + self.written_bytes) / self.requested_bytes

    @property
    def swallowed(self) -> bool:
        return self.reached < SWALLOWED_BELOW


def flows(results: Results, fixed: Mapping[str, str]) -> list[Flow]:
    """The flow of each cell whose metrics tell it, in the study's order; `fixed` holds the parameters on no axis."""
    found: dict[Combination, list[tuple[float, float, float]]] = {}
    for repetition in results.repetitions:
        numbers = repetition.metrics
        requested = numbers.get("requested_bytes", 0.0)
        told = "medium_read_bytes" in numbers and "medium_written_bytes" in numbers
        if repetition.is_measured and requested > 0 and told:
            row = (requested, numbers["medium_read_bytes"], numbers["medium_written_bytes"])
            found.setdefault(repetition.combination, []).append(row)
    return [
        Flow(
            combination,
            _direction({**fixed, **results.coordinates(combination)}),
            *map(median, zip(*rows, strict=True)),
        )
        for combination, rows in found.items()
    ]


def _direction(parameters: Mapping[str, str]) -> Direction:
    """Which way the requests go, where a pattern tells; a mixed pattern or a job of the user's may go either way."""
    pattern = parameters.get("pattern", "")
    if pattern.endswith("read"):
        return "read"
    return "write" if pattern.endswith("write") else "either"
