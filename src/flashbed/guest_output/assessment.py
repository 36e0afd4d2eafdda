# SPDX-License-Identifier: Apache-2.0
"""What was judged of a run: a state, and why. Who asks looks at the state; tables and reports show the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Assessment:
    """A state in a word or two, and a clause that says why; False where nothing was judged."""

    state: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.state)

    @property
    def text(self) -> str:
        """As tables have it: "steady", "not steady: falls from 4 MiB/s ..."."""
        return f"{self.state}: {self.reason}" if self.reason else self.state

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Of the text of a table that was written before."""
        state, _, reason = text.partition(": ")
        return cls(state, reason)
