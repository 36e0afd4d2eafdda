# SPDX-License-Identifier: Apache-2.0
"""What became of the data at each power cut of a cell: the file out/cuts.json, and its metrics.

Must not know how the power is cut, nor how data are checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from statistics import fmean

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

CUTS = "cuts.json"


class CutOutcome(StrEnum):
    """What a power cut led to. Those that come first are better."""

    SURVIVED = "survived"
    """The file system mounted, and all acknowledged data are there."""
    REPAIRED = "repaired"
    """So they are, but the file system mounted only after its repair."""
    LOST = "acknowledged data lost"
    UNREADABLE = "unreadable"
    """The check found data that it cannot read, or that contradict themselves."""
    REFUSED = "refused to mount"
    """The file system did not mount, nor after its repair if it has one."""
    CRASHED = "crashed"
    """The guest after the cut ended before it could say more: its kernel panicked or hung."""
    UNDECIDED = "check failed"
    """The check itself failed."""


METRICS: Mapping[CutOutcome, str] = {
    CutOutcome.SURVIVED: "cuts_survived",
    CutOutcome.REPAIRED: "cuts_repaired",
    CutOutcome.LOST: "cuts_lost",
    CutOutcome.UNREADABLE: "cuts_unreadable",
    CutOutcome.REFUSED: "cuts_refused",
    CutOutcome.CRASHED: "cuts_crashed",
    CutOutcome.UNDECIDED: "cuts_undecided",
}

GOOD = (CutOutcome.SURVIVED, CutOutcome.REPAIRED)


class Cut(BaseModel):
    """A power cut and what it led to."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    moment_ns: int
    """Since the command began."""
    outcome: CutOutcome = Field(strict=False)
    acknowledged: int
    """The lines that the program had acknowledged by then."""
    recovery_s: float | None = None
    """From the first attempt to mount to the mounted file system, with its repair; None if it did not mount."""
    note: str = ""
    """What the check, or the mount that failed, said; or how the guest ended."""


_FILE = TypeAdapter(list[Cut])


def to_json(cuts: Sequence[Cut]) -> bytes:
    """Return the file of these cuts."""
    return _FILE.dump_json(list(cuts), indent=1) + b"\n"


def read(out: Mapping[str, bytes]) -> list[Cut]:
    """Return the cuts in a guest's files; [] if its power was not cut. Raises ValueError."""
    return _FILE.validate_json(out[CUTS]) if CUTS in out else []


def metrics(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return how many cuts led to what, and the mean and the longest recovery; {} without cuts. Raises ValueError."""
    cuts = read(out)
    if not cuts:
        return {}
    counted = {name: float(sum(cut.outcome is outcome for cut in cuts)) for outcome, name in METRICS.items()}
    took = [cut.recovery_s for cut in cuts if cut.recovery_s is not None]
    recovery = {"recovery_mean_s": fmean(took), "recovery_max_s": max(took)} if took else {}
    return {"cuts": float(len(cuts)), **counted, **recovery}
