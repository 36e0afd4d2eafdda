# SPDX-License-Identifier: Apache-2.0
"""An assessment of a run: a state and its reason. Code checks the state; tables and reports show the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assessment:
    """A state of a word or two, and a clause with the reason. False if nothing was assessed."""

    state: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.state)

    @property
    def text(self) -> str:
        """Return the text of tables: "steady", "not steady: falls from 4 MiB/s ..."."""
        return f"{self.state}: {self.reason}" if self.reason else self.state
