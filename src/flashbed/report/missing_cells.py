# SPDX-License-Identifier: Apache-2.0
"""Sum up the cells that a figure lacks: how many and why, the first few by name, and the others folded.

A study of hundreds of cells that has only begun lacks most of them; all names would bury the figure. Must not know
HTML.
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
"""The most cells that the sentence names; the others are folded."""

MOST_REASONS = 3
"""The most reasons that the sentence gives; the others stand beside the cells."""


@dataclass(frozen=True)
class Gap:
    """A sentence with the first cells, and the cells that it does not name."""

    text: str
    named: int
    rest: Sequence[str]

    @property
    def folded(self) -> str:
        """Return the line above the folded cells."""
        return count(len(self.rest), "more cell" if self.named else "cell")


def gaps(report: Report, metric: str, cells: Sequence[Combination], spreads: Mapping[Combination, Spread]) -> list[Gap]:
    """Return the cells of a figure without a number, and those with fewer seeds than planned."""
    names = _names(report, cells)
    summed_up = []
    absent = {cell: reason for cell, reason in _reasons(report, metric, cells).items() if cell not in spreads}
    if absent:
        reasons = [f"{number} {reason}" for reason, number in Counter(absent.values()).most_common()]
        if len(reasons) > MOST_REASONS:
            reasons = [*reasons[:MOST_REASONS], f"{len(reasons) - MOST_REASONS} more reasons"]
        everyone = [f"{names[cell]}: {reason}" for cell, reason in absent.items()]
        everything = len(absent) == len(cells)
        how_many = f"all {count(len(cells), 'cell')}" if everything else f"{len(absent)} of {count(len(cells), 'cell')}"
        opening = f"Without a result: {how_many} ({'; '.join(reasons)})"
        # If nothing at all was measured, the first names tell a reader nothing
        first = [] if everything and len(cells) > NAMED else [names[cell] for cell in absent][:NAMED]
        summed_up.append(_gap(opening, first, everyone))
    planned = len(report.study.seeds)
    thin = [
        f"{names[cell]} ({spreads[cell].n} of {planned})"
        for cell in cells
        if cell in spreads and spreads[cell].n < planned
    ]
    if thin:
        opening = f"From fewer seeds than planned: {len(thin)} of {count(len(cells), 'cell')}"
        summed_up.append(_gap(opening, thin[:NAMED], thin))
    return summed_up


def _gap(opening: str, first: Sequence[str], everyone: Sequence[str]) -> Gap:
    """Return a gap that names the `first` cells, and folds the rest of `everyone`."""
    rest = everyone[len(first) :]
    such = "such as " if first and rest else ""
    return Gap(f"{opening}: {such}{'; '.join(first)}." if first else f"{opening}.", len(first), rest)


def _names(report: Report, cells: Sequence[Combination]) -> dict[Combination, str]:
    """Return the cells by what distinguishes them from one another; their figure says the rest."""
    axes = list(report.results.axes)
    telling = [place for place in range(len(axes)) if len({cell[place] for cell in cells}) > 1]
    return {
        cell: report.words.places([(axes[place], cell[place]) for place in telling]) or report.cell_name(cell)
        for cell in cells
    }


def _reasons(report: Report, metric: str, cells: Sequence[Combination]) -> dict[Combination, str]:
    """Return, by cell in their order, how its repetitions ended; of several ways, all."""
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
    return {cell: listing(list(ways)) for cell, ways in ends.items()}
