# SPDX-License-Identifier: Apache-2.0
"""Cells that are only the beginning of a longer one: the same settings, and less of the same work.

What a short cell measured, a longer one went through as well, and went on. So where the longer one's rate was not
steady, or the short one was too short to tell and its figure is another than the steady one of the longer, the short
one is a transient: it is shown, and decides nothing. One that agrees with the longer supports it, and one that was
steady by itself stands beside a longer one that was steady too: then the figure depends on the size.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from statistics import median

from flashbed.analysis.ratio import apart
from flashbed.analysis.results import Combination, Results
from flashbed.analysis.words import factor
from flashbed.common.units import by_size, sizes
from flashbed.guest_output.steadiness import MOST_APART, NOT_KNOWN, NOT_STEADY, STEADY

AMOUNT_AXES = ("io_size", "file")
"""What says how much is done, the first of these that a study varies: each byte of a file is asked for once, unless an
amount of I/O says otherwise.
"""

AGREES = 1 + MOST_APART / 2
"""So far may half of a steady rate be from all of it (steadiness.py), and so far a short cell from a longer one."""

RATE = "bandwidth"


def amount_axis(results: Results, apart_by: Collection[str] = ()) -> str | None:
    """The axis along which cells differ in nothing but how much they do; none where the study compares its values or
    keeps them apart, for then they are different loads.
    """
    axis = next((axis for axis in AMOUNT_AXES if len(results.axes.get(axis, ())) > 1), None)
    return axis if axis is not None and axis not in apart_by and sizes(results.axes[axis]) else None


def transients(results: Results, axis: str) -> dict[Combination, str]:
    """By cell that is a transient, why: a clause. `axis` is one of amounts."""
    place = list(results.axes).index(axis)
    steady = _steadiness(results)
    rates = {cell: median(numbers.values()) for cell, numbers in results.numbers(RATE).items()}
    order = {value: rank for rank, value in enumerate(by_size(results.axes[axis]))}
    alike: dict[Combination, list[Combination]] = {}
    for cell in steady:
        alike.setdefault((*cell[:place], *cell[place + 1 :]), []).append(cell)
    found = {}
    for cells in alike.values():
        cells.sort(key=lambda cell: order[cell[place]])
        for rank, cell in enumerate(cells):
            why = _why(cell, cells[rank + 1 :], steady, rates, place)
            if why:
                found[cell] = why
    return found


def _why(
    cell: Combination,
    longer: Collection[Combination],
    steady: Mapping[Combination, str],
    rates: Mapping[Combination, float],
    place: int,
) -> str:
    """ "" where no longer cell speaks against it."""
    for other in longer:
        if steady[other] == NOT_STEADY:
            return f"it is only the beginning of the same over {other[place]}, whose rate was not steady"
    known = [other for other in longer if steady[other] == STEADY]
    if steady[cell] != NOT_KNOWN or not known or not {cell, known[-1]} <= rates.keys():
        return ""
    far = apart(rates[cell] / rates[known[-1]]) if rates[cell] and rates[known[-1]] else 1.0
    if far <= AGREES:
        return ""
    return (
        f"it is too short to tell its rate, {factor(far)} times off the steady one of the same over {known[-1][place]}"
    )


def _steadiness(results: Results) -> dict[Combination, str]:
    """By cell that was measured, STEADY or NOT_STEADY where more than half of its seeds say so, or NOT_KNOWN where
    none tells; "" else.
    """
    said: dict[Combination, list[str]] = {}
    for repetition in results.repetitions:
        if repetition.is_measured:
            said.setdefault(repetition.combination, []).append(repetition.steady.partition(":")[0])
    told = {}
    for cell, words in said.items():
        most = next((word for word in (STEADY, NOT_STEADY) if 2 * words.count(word) > len(words)), "")
        told[cell] = NOT_KNOWN if all(word == NOT_KNOWN for word in words) else most
    return told
