# SPDX-License-Identifier: Apache-2.0
"""A table of text, for a terminal or a page. Must not know what it is of, nor how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PageTable:
    """`left`: how many columns are words and stand to the left; the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, ...]]
    left: int = 1
    note: str = ""
    tones: Mapping[str, str] = field(default_factory=dict)
    """Of texts that say whether something is good or bad: "good" or "bad"."""
    most: int | None = None
    """On a page, so many rows stand open, and the rest is folded; None: all."""
