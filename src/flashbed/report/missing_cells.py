# SPDX-License-Identifier: Apache-2.0
"""What a figure lacks, summed up: how many cells and why, the first few by name, and all others for who asks.

A study of hundreds of cells that has only begun lacks most of them; their names in full would bury the figure. Must not
know HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashbed.analysis import MISSING, Spread
from flashbed.analysis.words import count, listing
from flashbed.common.foreign_text import without_controls
from flashbed.report.model import Report
from flashbed.result.columns import Combination

NAMED = 3
"""Cells that are named in the sentence; the others are folded."""

MOST_REASONS = 3
"""Reasons that are told in the sentence; the others stand beside the cells."""


@dataclass(frozen=True)
class Gap:
    """A sentence with the first cells, and the cells that it does not name."""

    text: str
    named: int
    rest: Sequence[str]

    @property
    def folded(self) -> str:
        """What stands over the others."""
        return count(len(self.rest), "more cell" if self.named else "cell")


def gaps(report: Report, metric: str, cells: Sequence[Combination], spreads: Mapping[Combination, Spread]) -> list[Gap]:
    """The cells of a figure without a number, and those that rest on fewer seeds than planned."""
    names = _names(report, cells)
    found = []
    absent = {cell: reason for cell, reason in _reasons(report, metric, cells).items() if cell not in spreads}
    if absent:
        why = [f"{number} {reason}" for reason, number in Counter(absent.values()).most_common()]
        if len(why) > MOST_REASONS:
            why = [*why[:MOST_REASONS], f"{len(why) - MOST_REASONS} more reasons"]
        told = [f"{names[cell]}: {reason}" for cell, reason in absent.items()]
        everything = len(absent) == len(cells)
        how_many = f"all {count(len(cells), 'cell')}" if everything else f"{len(absent)} of {count(len(cells), 'cell')}"
        opening = f"Without a result: {how_many} ({'; '.join(why)})"
        # Where nothing at all was measured, the first names tell nobody anything.
        first = [] if everything and len(cells) > NAMED else [names[cell] for cell in absent][:NAMED]
        found.append(_gap(opening, first, told))
    planned = len(report.study.seeds)
    thin = [
        f"{names[cell]} ({spreads[cell].n} of {planned})"
        for cell in cells
        if cell in spreads and spreads[cell].n < planned
    ]
    if thin:
        opening = f"From fewer seeds than planned: {len(thin)} of {count(len(cells), 'cell')}"
        found.append(_gap(opening, thin[:NAMED], thin))
    return found


def _gap(opening: str, first: Sequence[str], everyone: Sequence[str]) -> Gap:
    rest = everyone[len(first) :]
    such = "such as " if first and rest else ""
    return Gap(f"{opening}: {such}{'; '.join(first)}." if first else f"{opening}.", len(first), rest)


def _names(report: Report, cells: Sequence[Combination]) -> dict[Combination, str]:
    """The cells by what tells them from one another; the title and `where` of their figure say the rest."""
    axes = list(report.results.axes)
    told = [place for place in range(len(axes)) if len({cell[place] for cell in cells}) > 1]
    return {
        cell: report.words.places([(axes[place], cell[place]) for place in told]) or report.cell_name(cell)
        for cell in cells
    }


def _reasons(report: Report, metric: str, cells: Sequence[Combination]) -> dict[Combination, str]:
    """By cell, in their order, how its repetitions ended; of several ways, all."""
    ends: dict[Combination, dict[str, None]] = {cell: {} for cell in cells}
    for repetition in report.results.repetitions:
        if repetition.combination in ends:
            if repetition.is_measured:
                end = f"measured without {metric}"
            elif repetition.outcome == MISSING:
                end = "not run"
            else:
                end = (
                    f"{repetition.outcome}: {without_controls(repetition.reason)}"
                    if repetition.reason
                    else repetition.outcome
                )
            ends[repetition.combination][end] = None
    return {cell: listing(list(found)) for cell, found in ends.items()}
