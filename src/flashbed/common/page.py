# SPDX-License-Identifier: Apache-2.0
"""A table of text, for a terminal or a page. Must not know its subject, nor how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Rows = list[tuple[str, ...]]
"""Rows of a table, each with a text for each column."""


@dataclass(frozen=True)
class PageTable:
    """A table. The first `left` columns are words, aligned left; the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, ...]]
    left: int = 1
    note: str = ""
    tones: Mapping[str, str] = field(default_factory=dict)
    """Maps a text of a cell to "good" or "bad"."""
    most: int | None = None
    """How many rows a page shows; it folds the rest. None: all rows."""
