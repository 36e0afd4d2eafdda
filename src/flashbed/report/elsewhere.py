# SPDX-License-Identifier: Apache-2.0
"""What other systems measured, as a table of its own: real time and virtual time never stand in one.

Must not know HTML.
"""

from __future__ import annotations

from flashbed.analysis.words import capitalized, metric_of, scale_of
from flashbed.report.figures import spread_text
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell

SHOWN = ("bandwidth", "iops", "latency_mean_us", "latency_p99_us", "flush_mean_us", "flush_p99_us", "runtime_s")
"""What fio can tell wherever it runs."""


def table(report: Report) -> ReportTable:
    """A row for each system and cell that has results, in the study's order."""
    results = report.elsewhere
    assert results is not None
    spreads = {metric: found for metric in SHOWN if (found := results.spreads(metric))}
    cells = [cell for cell in results.combinations() if any(cell in found for found in spreads.values())]
    scales = {
        metric: scale_of(metric_of(metric), (spread.high for spread in found.values()))
        for metric, found in spreads.items()
    }
    rows = []
    for cell in cells:
        heads = [Head(report.words.value(axis, value)) for axis, value in results.coordinates(cell).items()]
        shown = []
        for metric, found in spreads.items():
            spread = found.get(cell)
            if spread is None:
                shown.append(TableCell("–", tone="quiet"))
            else:
                shown.append(
                    TableCell(
                        scales[metric].number(spread.median),
                        hint=spread_text(spread, scales[metric]),
                        sort=spread.median,
                    )
                )
        rows.append(Row(heads, shown))
    return ReportTable(
        caption="Real time, as fio told it",
        note="Medians over seeds.",
        corner=[capitalized(report.words.axis(axis)) for axis in results.axes],
        columns=[scales[metric].title(metric_of(metric)) for metric in spreads],
        rows=rows,
        kind="sortable",
    )
