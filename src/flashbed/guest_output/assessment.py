# SPDX-License-Identifier: Apache-2.0
"""How a run ended, and assessments of it: a state and its reason. Code checks the state; tables and reports show the
text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a run ended. Files and tables have these words as the outcome of a repetition."""

    MEASURED = "measured"
    """It has figures."""
    FAILED = "failed"
    TIMED_OUT = "timed out"
    KILLED = "killed"
    """Another process of the host, or a lack of memory, ended the machine itself."""
    MISSING = "missing"
    """It was planned, and was not run."""


HOST_DECIDED = (Status.KILLED, Status.TIMED_OUT)
"""The endings that depend on the host, and say nothing about the cell."""


class State(StrEnum):
    """The states of all assessments. Tables and results.json have these words."""

    NOT_ASSESSED = ""
    DURABLE = "durable"
    """All commits were carried out."""
    NOT_DURABLE = "not durable"
    STEADY = "steady"
    """The rate was about the same in both halves."""
    NOT_STEADY = "not steady"
    SETTLED = "settled"
    """Write amplification was about the same in both halves."""
    NOT_SETTLED = "not settled"
    FRESH = "fresh"
    """The flash was programmed with less than its capacity since it left the factory."""
    NOT_KNOWN = "not known"
    """Assessed, without a verdict: commits that may have been lost, or a rate that may have been steady."""


@dataclass(frozen=True)
class Assessment:
    """A state, and a clause with the reason. False if nothing was assessed."""

    state: State = State.NOT_ASSESSED
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.state)

    @property
    def text(self) -> str:
        """Return the text of tables: "steady", "not steady: falls from 4 MiB/s ..."."""
        return f"{self.state}: {self.reason}" if self.reason else self.state.value
