# SPDX-License-Identifier: Apache-2.0
"""A repetition's result: what is kept of it in result.json, and what its guest's files say.

Must not know how those are read, nor where they lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flashbed.guest_output.assessment import Status
from flashbed.guest_output.durability import Durability
from flashbed.guest_output.program_calls import CallSummary
from flashbed.guest_output.steadiness import Series, Settling

_MEDIUM_BYTES = "medium_bytes"

_Part = TypeVar("_Part")


class ResultError(ValueError):
    """A document is no result; the text says why."""


@dataclass(frozen=True)
class CellInputs:
    """The inputs of a cell that its measurement depends on."""

    tool: str
    parameters: Mapping[str, object]
    """The workload's parameters."""
    medium: Mapping[str, Any]
    """The parameters of the medium's model, and its kind."""
    pio_sector_ns: int
    nand_cycle_ps: int
    has_power_cuts: bool

    @property
    def numbers(self) -> dict[str, int]:
        """Return the parameters of the medium that are numbers."""
        return {name: value for name, value in self.medium.items() if type(value) is int}

    @classmethod
    def of(cls, cell: Mapping[str, Any]) -> CellInputs:
        """Return the inputs of the document of a cell. Raises ResultError."""
        return cls(
            tool=_part(cell, str, "workload", "tool"),
            parameters=_part(cell, dict, "workload", "parameters"),
            medium=_part(cell, dict, "medium"),
            pio_sector_ns=_part(cell, int, "board", "pio_sector_ns"),
            nand_cycle_ps=_part(cell, int, "board", "nand_cycle_ps"),
            has_power_cuts="power_cuts" in cell,
        )


def _part(cell: Mapping[str, Any], kind: type[_Part], *names: str) -> _Part:
    """Return a part of a cell's document. Raises ResultError if there is none of this kind."""
    part: object = cell
    for name in names:
        part = part.get(name) if isinstance(part, Mapping) else None
    if not isinstance(part, kind):
        raise ResultError(f'its cell has no "{".".join(names)}", or one of another kind')
    return part


@dataclass(frozen=True)
class Measurement:
    """What follows from a guest's files. It is in no result, but computed when a result is read. For a repetition
    without output it is empty.
    """

    mounted: str = ""
    """The mount, as the kernel reports it."""
    durable: Durability = field(default_factory=Durability)
    """Whether commits were carried out."""
    settled: Settling = field(default_factory=Settling)
    """Whether write amplification was the same in both halves."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    medium: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The medium's counters, by moment or phase."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """CPU time in ns, and the medium's work until all data had reached it, by the names of LAYERS."""
    series: Sequence[Series] = ()
    """The bytes that were moved over time."""
    calls: CallSummary | None = None
    """Where the time of the programs went; None if their calls were not noted."""


@dataclass(frozen=True)
class Result:
    """The result of a repetition. It contains nothing of the host: no time of day, no path, no name."""

    key: str
    coordinates: Mapping[str, str]
    """Maps each axis to its value, as in the study that first ran the repetition."""
    seed: int
    outcome: Status
    reason: str
    check: str | None
    """The output of the file system's own checker: "" if the image is clean, None if it was not checked."""
    cell: Mapping[str, Any]
    """The inputs of the cell, as in its key."""
    environment: Mapping[str, str]
    """The digests of everything else in the key."""
    medium_bytes: int
    """The bytes of the medium that the file system got."""
    measurement: Measurement = Measurement()

    @property
    def is_measured(self) -> bool:
        return self.outcome == Status.MEASURED

    def to_json(self) -> dict[str, Any]:
        """Return the document of result.json: everything but the measurement."""
        return {
            "key": self.key,
            "coordinates": dict(self.coordinates),
            "seed": self.seed,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "check": self.check,
            "cell": dict(self.cell),
            "environment": dict(self.environment),
            _MEDIUM_BYTES: self.medium_bytes,
        }

    @classmethod
    def from_json(cls, document: object, medium_bytes: int | None = None) -> Result:
        """Return the result of a document. Older documents lack the bytes of the medium: then `medium_bytes` counts, or
        without it the cell's medium. For a partition of a raw chip the cell does not have them either. Raises
        ResultError.
        """
        if not isinstance(document, Mapping):
            raise ResultError("is not a table")
        for name, kind in _KINDS.items():
            if not isinstance(document.get(name), kind) or (name == "check" and name not in document):
                raise ResultError(f'has no "{name}", or one of another kind')
        bytes_of_medium = document.get(_MEDIUM_BYTES, medium_bytes)
        if bytes_of_medium is None:
            medium = document["cell"].get("medium", {})
            bytes_of_medium = medium.get("used_bytes") or medium.get("capacity_bytes", 0)
        if type(bytes_of_medium) is not int:
            raise ResultError(f'its "{_MEDIUM_BYTES}" are no number')
        if document["outcome"] not in list(Status):
            raise ResultError('its "outcome" is unknown')
        values = {name: document[name] for name in _KINDS} | {"outcome": Status(document["outcome"])}
        return cls(**values, medium_bytes=bytes_of_medium)


_KINDS: Mapping[str, Any] = {
    "key": str,
    "coordinates": dict,
    "seed": int,
    "outcome": str,
    "reason": str,
    "check": str | None,
    "cell": dict,
    "environment": dict,
}
