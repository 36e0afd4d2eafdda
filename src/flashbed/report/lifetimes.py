# SPDX-License-Identifier: Apache-2.0
"""The life of each flash medium under the study's load, or its bounds if it is not known yet. Must not know HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flashbed.analysis import Spread
from flashbed.analysis.comparison import LIFETIME_METRICS, erase_steps
from flashbed.analysis.words import count, metric_of, number
from flashbed.common.units import rough_size
from flashbed.guest_output.wear import BOUNDS, ENOUGH_OVERWRITES, LIVES
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.result.columns import Combination


def table(report: Report) -> ReportTable | None:
    """Return a row for each cell whose medium wears; None for a study that names no load."""
    load = report.study.bytes_per_day
    overwrites = report.results.spreads("overwrites")
    if load is None or not overwrites:
        return None
    lives = [report.results.spreads(life) for life in LIVES]
    bounds = [report.results.spreads(bound) for bound in BOUNDS]
    axes = list(report.results.axes)
    rows = [
        Row(
            [Head(report.words.value(axis, value)) for axis, value in zip(axes, cell, strict=True)] or [Head("All")],
            [TableCell(number(turns.median), sort=turns.median), *(_years(spreads, bounds, cell) for spreads in lives)],
        )
        for cell, turns in overwrites.items()
    ]
    return ReportTable(
        caption=f"Years at {rough_size(load)} a day",
        note="Medians over seeds, below them the interval that the seeds leave. The most worn block is at its end "
        "first; the other figure would hold if all wore alike. Not known before the flash has been overwritten "
        f"{ENOUGH_OVERWRITES} times in the measurement, for then the pace is known to a tenth; until then "
        "stands what it is at least and at most.",
        corner=[report.words.axis(axis).capitalize() for axis in axes] or [""],
        columns=["Overwritten", *(metric_of(life).title for life in LIVES)],
        rows=rows,
        kind="sortable",
    )


def resolution(report: Report) -> str:
    """Return a sentence on the largest step in which a life is counted; "" if the study asks for no life."""
    steps = erase_steps(report.results) if set(report.asked_metrics) & set(LIFETIME_METRICS) else {}
    if not steps:
        return ""
    cell = max(steps, key=steps.__getitem__)
    return (
        f"A life is counted in whole erases of the most worn block: one more or less changes it by up to "
        f"{100 * steps[cell]:.0f} % ({report.cell_name(cell)}). A lead that one on either side could make is none."
    )


def not_known(report: Report) -> str:
    """Return a sentence on the cells whose life is not known yet, with its bounds; "" if there are none."""
    lives = [life for life in LIVES if life in report.asked_metrics]
    measured = report.results.spreads("overwrites")
    if not lives or not measured or report.study.bytes_per_day is None:
        return ""
    known = report.results.spreads(lives[0])
    least, most = (report.results.spreads(bound) for bound in BOUNDS)
    cells = [cell for cell in measured if cell not in known]
    if not cells:
        return ""
    ends = []
    if all(cell in least for cell in cells):
        ends.append(f"at least {number(min(least[cell].low for cell in cells))}")
    if all(cell in most for cell in cells):
        ends.append(f"at most {number(max(most[cell].high for cell in cells))}")
    bounds = f" It is {' and '.join(ends)} years." if ends else ""
    return (
        f"How long the flash lasts is not known yet in {count(len(cells), 'cell')}: it must be overwritten "
        f"{ENOUGH_OVERWRITES} times in the measurement, at a write amplification that has settled.{bounds}"
    )


def _years(
    spreads: Mapping[Combination, Spread], bounds: Sequence[Mapping[Combination, Spread]], cell: Combination
) -> TableCell:
    """Return the life of a cell, or its bounds."""
    if cell not in spreads:
        least, most = (bound.get(cell) for bound in bounds)
        ends = [
            *([f"at least {number(least.low)}"] if least else []),
            *([f"at most {number(most.high)}"] if most else []),
        ]
        return TableCell("not known yet", note=", ".join(ends), tone="quiet")
    spread = spreads[cell]
    note = "" if spread.n == 1 else f"{number(spread.low)} – {number(spread.high)}"
    return TableCell(number(spread.median), note=note, sort=spread.median)
