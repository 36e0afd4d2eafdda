# SPDX-License-Identifier: Apache-2.0
"""Say how far the cells that a claim compares can be trusted: how many were not steady, in how many memory kept the
bytes or the CPU decided. The verdict follows from the figures alone; this stands beside it. Must not know HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from flashbed.analysis import Judgement
from flashbed.analysis.decisive import MEMORY, DoubtKind, is_of_the_load, phase_of
from flashbed.analysis.words import count, listing
from flashbed.report.model import Report
from flashbed.result.columns import Combination

HOLDING = ("CPU", "write cache")
"""Kinds of doubt that leave the order of the compared values as it is."""


_SHORT: Mapping[tuple[DoubtKind, ...], str] = {
    ("not durable",): "{number} of {cells} not durable",
    ("commits not known",): "commits not known in {number} of {all}",
    ("not steady",): "{number} of {cells} not steady",
    ("too short",): "{number} of {all} too short",
    ("not settled",): "{number} of {all} not settled",
    MEMORY: "{keeper} kept the bytes in {number} of {all}",
    ("CPU",): "the CPU decided in {number} of {all}",
    ("write cache",): "the drive's write cache took it in {number} of {all}",
}
"""For a cell of a table, in its order."""

_CLAUSES: Mapping[tuple[DoubtKind, ...], str] = {
    ("not durable",): "commits of the load were lost in {number}",
    ("commits not known",): "it is not known whether commits were carried out in {number}",
    MEMORY: "{keeper} kept the bytes in {number}",
    ("not steady",): "the rate was not steady in {number}",
    ("too short",): "it was only the beginning of a longer one with another rate in {number}",
    ("not settled",): "a longer run has another write amplification in {number}",
    ("CPU",): "the CPU decided in {number}",
    ("write cache",): "the drive's write cache took much of it in {number}",
}
"""For a claim's remarks, in their order."""


@dataclass(frozen=True)
class Trust:
    """How many of the cells that a claim compares say little of what it is about. If the claim has several metrics, a
    figure is counted for each cell and metric.
    """

    cells: int
    doubts: Mapping[DoubtKind, int] = field(default_factory=dict)
    """How many cells, or figures, have each kind of doubt."""
    decides: bool = False
    """True if the comparison that decides rests on such a cell."""
    noun: str = "cell"
    """What is counted: "cell" or "figure"."""
    keeper: str = "memory"
    """What kept bytes from the medium: memory, or compression."""

    def number(self, *kinds: DoubtKind) -> int:
        """Return how many have a doubt of one of these kinds."""
        return sum(self.doubts.get(kind, 0) for kind in kinds)

    @property
    def short(self) -> str:
        """Return a text for a cell of a table: "3 of 12 cells not steady, memory kept the bytes in 4 of 12"."""
        return ", ".join(self._described(_SHORT))

    @property
    def sentence(self) -> str:
        """Return a sentence for a claim's remarks; "" if no cell is in doubt."""
        clauses = self._described(_CLAUSES)
        if not clauses:
            return ""
        decides = f" The comparison that decides rests on such a {self.noun}." if self.decides else ""
        return f"Of the {count(self.cells, self.noun)} compared, {listing(clauses)}.{decides}"

    def _described(self, words: Mapping[tuple[DoubtKind, ...], str]) -> list[str]:
        names = {"cells": count(self.cells, self.noun), "all": self.cells, "keeper": self.keeper}
        numbers = {text: self.number(*kinds) for kinds, text in words.items()}
        return [text.format(number=number, **names) for text, number in numbers.items() if number]


def trust(report: Report, judgement: Judgement) -> Trust:
    """Return what the rules of the analysis (decisive.py) say of a claim's cells, by each of its metrics. Of other
    systems nothing is known.
    """
    if judgement.claim.is_about_systems:
        return Trust(0)
    kinds = {
        (cell, finding.metric): _kind(report, cell, finding.metric)
        for finding in judgement.findings
        for cell in finding.cells
    }
    deciding = judgement.deciding
    decides = deciding is not None and any(
        kinds[cell, deciding.metric] not in (None, *HOLDING) for cell in deciding.cells
    )
    return Trust(
        cells=len(kinds),
        doubts=Counter(kind for kind in kinds.values() if kind),
        decides=decides,
        noun="cell" if len(judgement.claim.metric) == 1 else "figure",
        keeper=report.keeper(cell for (cell, _), kind in kinds.items() if kind in MEMORY),
    )


def _kind(report: Report, cell: Combination, metric: str) -> DoubtKind | None:
    """Return the kind of doubt; None if there is none. For a metric that is no speed, such as bytes written, and of no
    phase, the limit of the cell as a whole tells whether memory kept bytes. For one that is counted until everything
    has reached the medium, nothing does.
    """
    doubt = report.doubts(metric).get(cell)
    if doubt:
        return doubt.kind
    whole = is_of_the_load(metric) and phase_of(report.results.metrics, metric) is None
    return "memory" if whole and report.results.limits.get(cell) == "memory" else None
