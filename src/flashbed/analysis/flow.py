# SPDX-License-Identifier: Apache-2.0
"""How many of the bytes that a workload asked for reached the medium, and where memory swallowed the writes.

A write that the page cache keeps looks like a fast medium: each reader of a result must see that it is not. Knows the
metrics' names, and no workload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from flashbed.analysis.results import Results
from flashbed.guest_output.limit import REACHED_PERCENT, SWALLOWED_BELOW, Direction, direction_of, reached
from flashbed.result.columns import Combination


@dataclass(frozen=True)
class Flow:
    """Bytes of one cell, medians over its seeds."""

    combination: Combination
    direction: Direction
    requested_bytes: float
    read_bytes: float
    written_bytes: float
    of_phases: float | None = None
    """What reached the medium in the phases of a tool that has some, for each byte that they asked for: beside them the
    bytes have what comes in between, such as the scan of a mount.
    """

    @property
    def reached(self) -> float:
        """What passed between the board and the medium for each byte that the workload asked for."""
        if self.of_phases is not None:
            return self.of_phases
        return reached(self.requested_bytes, self.read_bytes, self.written_bytes, self.direction)

    @property
    def swallowed(self) -> bool:
        return self.reached < SWALLOWED_BELOW

    @property
    def percent(self) -> str:
        """ "12 %"; what is called less than half is not written as half."""
        if self.swallowed and round(self.reached * 100) >= SWALLOWED_BELOW * 100:
            return f"just under {SWALLOWED_BELOW * 100:.0f} %"
        return f"{self.reached * 100:,.0f} %"


def flows(results: Results, fixed: Mapping[str, str]) -> list[Flow]:
    """The flow of each cell whose metrics tell it, in the study's order; `fixed` holds the parameters on no axis."""
    found: dict[Combination, list[tuple[float, float, float]]] = {}
    shares: dict[Combination, list[float]] = {}
    for repetition in results.repetitions:
        numbers = repetition.metrics
        requested = numbers.get("requested_bytes", 0.0)
        told = "medium_read_bytes" in numbers and "medium_written_bytes" in numbers
        if repetition.is_measured and requested > 0 and told:
            row = (requested, numbers["medium_read_bytes"], numbers["medium_written_bytes"])
            found.setdefault(repetition.combination, []).append(row)
            if REACHED_PERCENT in numbers:
                shares.setdefault(repetition.combination, []).append(numbers[REACHED_PERCENT] / 100.0)
    return [_flow(results, combination, rows, shares.get(combination), fixed) for combination, rows in found.items()]


def _flow(
    results: Results,
    combination: Combination,
    rows: Sequence[tuple[float, float, float]],
    shares: Sequence[float] | None,
    fixed: Mapping[str, str],
) -> Flow:
    """The medians of a cell's seeds."""
    direction = direction_of({**fixed, **results.coordinates(combination)})
    requested, read, written = map(median, zip(*rows, strict=True))
    return Flow(combination, direction, requested, read, written, median(shares) if shares else None)
