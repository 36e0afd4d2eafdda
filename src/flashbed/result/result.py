# SPDX-License-Identifier: Apache-2.0
"""A repetition's result: what is kept of it in result.json, and what its guest's files say.

Must not know how those are read, nor where they lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flashbed.guest_output.durability import Durability
from flashbed.guest_output.steadiness import Series, Settling

MEASURED = "measured"
"""The outcome of a repetition that has figures; any other is how it failed."""

_MEDIUM_BYTES = "medium_bytes"


class ResultError(ValueError):
    """A document is no result; the text says why."""


@dataclass(frozen=True)
class Measurement:
    """What follows from the files of a guest, and is kept nowhere: worked out whenever a result is read. Of a
    repetition without an output it is empty.
    """

    mounted: str = ""
    """How the kernel had its file system mounted."""
    durable: Durability = field(default_factory=Durability)
    """Whether commits were carried out."""
    settled: Settling = field(default_factory=Settling)
    """Whether write amplification was the same in both halves."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    medium: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The medium's counters, by the moment or the phase that they are of."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """CPU time, ns, and what the medium did until all had reached it, by the names of LAYERS."""
    series: Sequence[Series] = ()
    """What was moved over time."""


@dataclass(frozen=True)
class Result:
    """What came of a repetition. Nothing of the host is in it: no time of day, no path, no name."""

    key: str
    coordinates: Mapping[str, str]
    """Axis to value, as the study that first ran it says."""
    seed: int
    outcome: str
    reason: str
    check: str | None
    """What the file system's own checker said: "" is clean, None is not checked."""
    cell: Mapping[str, Any]
    """All that the cell is made of, as in its key."""
    environment: Mapping[str, str]
    """Digests of all else that is in the key."""
    medium_bytes: int
    """The bytes of the medium that the file system got."""
    measurement: Measurement = Measurement()

    @property
    def is_measured(self) -> bool:
        return self.outcome == MEASURED

    def to_json(self) -> dict[str, Any]:
        """What result.json holds: all but the measurement."""
        return {
            "key": self.key,
            "coordinates": dict(self.coordinates),
            "seed": self.seed,
            "outcome": self.outcome,
            "reason": self.reason,
            "check": self.check,
            "cell": dict(self.cell),
            "environment": dict(self.environment),
            _MEDIUM_BYTES: self.medium_bytes,
        }

    @classmethod
    def from_json(cls, document: object, medium_bytes: int | None = None) -> Result:
        """The result of a document; `medium_bytes` is for documents of before, which do not tell: without it, what the
        cell says of its medium. Of a partition of a raw chip the cell does not tell either. Raises ResultError.
        """
        if not isinstance(document, Mapping):
            raise ResultError("is not a table")
        for name, kind in _KINDS.items():
            if not isinstance(document.get(name), kind) or (name == "check" and name not in document):
                raise ResultError(f'has no "{name}", or one of another kind')
        known = document.get(_MEDIUM_BYTES, medium_bytes)
        if known is None:
            medium = document["cell"].get("medium", {})
            known = medium.get("used_bytes") or medium.get("capacity_bytes", 0)
        if type(known) is not int:
            raise ResultError(f'its "{_MEDIUM_BYTES}" are no number')
        return cls(**{name: document[name] for name in _KINDS}, medium_bytes=known)


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
