# SPDX-License-Identifier: Apache-2.0
"""The tables of a report as data: captions, headers, cells with their notes.

Turns results into the texts of cells, and computes only which cell is best. Must not know HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from flashbed.analysis import Numbers, Spread, is_ahead, ratio
from flashbed.analysis.decisive import MEMORY, is_of_the_load, phase_of
from flashbed.analysis.words import SPEAKING_AXES, Scale, capitalized, listing, metric_of, scale_of
from flashbed.report import limits
from flashbed.report.figures import Drawing, spread_text
from flashbed.report.limits import MEDIUM_LIMIT, SHORT
from flashbed.report.model import Report, no_scheduler
from flashbed.result.columns import Combination
from flashbed.result.metrics import Metric
from flashbed.study.format import Table

MOST_COLUMNS = 9
"""The most columns that fit side by side on a page; with more, the first axis of columns goes to the rows."""

MOST_WITH_HEADS = 13
"""The same limit, including the columns of row headers."""

DENSE_COLUMNS = 6
"""The most columns of a table in normal type."""


@dataclass(frozen=True)
class TableCell:
    """Text with a smaller note of one line or more below it; `sort` is the number behind the text."""

    text: str
    note: str = ""
    hint: str = ""
    tone: str = ""
    sort: float | None = None


@dataclass(frozen=True)
class Head:
    """A row header; one that spans several rows stands in the first of them. `link` is a place in the page."""

    text: str
    rows: int = 1
    link: str = ""


@dataclass(frozen=True)
class Row:
    """A row: its headers, then its cells."""

    heads: Sequence[Head]
    cells: Sequence[TableCell]


@dataclass(frozen=True)
class ReportTable:
    """A table. `corner` has the heads over the row headers, `kind` the classes of its style."""

    caption: str
    note: str
    corner: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Row]
    over: str = ""
    """The axis of all columns, if their values do not say it themselves."""
    kind: str = "plain"


def study_tables(report: Report) -> list[ReportTable]:
    """Return the tables that the study asks for."""
    return [_study_table(report, table) for table in report.study.tables]


def _study_table(report: Report, table: Table) -> ReportTable:
    """Return one table of the study."""
    axes, words = list(report.results.axes), report.words
    metrics = [metric_of(name) for name in table.metric]
    spreads = {metric: report.results.spreads(metric.name) for metric in metrics}
    numbers = report.results.numbers(table.metric[0])
    cells = list(report.results.combinations(table.where))
    table = _fitting(table, [report.results.coordinates(cell) for cell in cells])

    def part(cell: Combination, names: Sequence[str]) -> Combination:
        return tuple(cell[axes.index(name)] for name in names)

    by_place = {(part(cell, table.rows), part(cell, table.columns)): cell for cell in cells}
    columns = _in_order(report, table.columns, {part(cell, table.columns) for cell in cells})
    rows = _in_order(report, table.rows, {part(cell, table.rows) for cell in cells})
    marks_best = len(metrics) == 1 and tuple(table.columns) == (report.compared_axis,) and metrics[0].better is not None
    shown = {metric: [spreads[metric][cell] for cell in cells if cell in spreads[metric]] for metric in metrics}
    scales = {metric: scale_of(metric, (spread.high for spread in shown[metric])) for metric in metrics}
    cell_rows = []
    for row in rows:
        in_row = {column: by_place.get((row, column)) for column in columns}
        known = {column: numbers[cell] for column, cell in in_row.items() if cell in numbers}
        durable = {column: numbers_ for column, numbers_ in known.items() if in_row[column] not in report.not_durable}
        best = _best(durable, metrics[0]) if marks_best else None
        cell_rows.append(
            [
                number_cell(report, metric.name, spreads[metric], cell, scales[metric], column == best)
                for metric in metrics
                for column, cell in in_row.items()
            ]
        )
    heads = _spanned([[words.value(a, v) for a, v in zip(table.rows, row, strict=True)] for row in rows])
    title = scales[metrics[0]].title(metrics[0]) if len(metrics) == 1 else "Units are in the heads"
    return ReportTable(
        caption=table.title,
        note=" ".join(
            filter(
                None,
                [
                    _how_to_read(title, [spread for metric in metrics for spread in shown[metric]]),
                    "▸ is clearly the best of its row." if marks_best else "",
                    no_scheduler(report, cells),
                    limits.remark(report, cells, table.metric),
                ],
            )
        ),
        corner=[capitalized(words.axis(axis)) for axis in table.rows],
        columns=[
            _head(_column_head(report, table.columns, column), scales[metric].title(metric), metric, len(metrics))
            for metric in metrics
            for column in columns
        ],
        over=capitalized(words.axis(table.columns[0])) if _needs_head_over(table.columns) else "",
        rows=[Row(head, cells_) for head, cells_ in zip(heads, cell_rows, strict=True)],
        kind="dense" if len(columns) * len(metrics) > DENSE_COLUMNS else "plain",
    )


def _fitting(table: Table, cells: Sequence[Mapping[str, str]]) -> Table:
    """Return the table as wide as a page: axes of its columns go to its rows while there are too many columns."""
    rows, columns = table.rows, table.columns
    while len(columns) > 1 or (columns and len(table.metric) > 1):
        places = {tuple(cell[axis] for axis in columns) for cell in cells}
        wide = len(places) * len(table.metric)
        if wide <= MOST_COLUMNS and len(rows) + wide <= MOST_WITH_HEADS:
            break
        rows, columns = (*rows, columns[0]), columns[1:]
    return table.model_copy(update={"rows": rows, "columns": columns})


def _head(place: str, title: str, metric: Metric, metrics: int) -> str:
    """Return the head of a column: its place if there is one metric, its metric if there is one place, else both."""
    if metrics == 1:
        return place or metric.title
    return f"{title}, {place}" if place else title


def _needs_head_over(axes: Sequence[str]) -> bool:
    return len(axes) == 1 and axes[0] not in SPEAKING_AXES


def _column_head(report: Report, axes: Sequence[str], values: Combination) -> str:
    if _needs_head_over(axes):
        return report.words.value(axes[0], values[0])
    return report.words.places(list(zip(axes, values, strict=True)))


def number_cell(
    report: Report,
    metric: str,
    spreads: Mapping[Combination, Spread],
    cell: Combination | None,
    scale: Scale,
    best: bool,
) -> TableCell:
    """Return the median of a cell with its interval and what limits trust in it. `best` marks the best of its row."""
    if cell is None:
        return TableCell("", hint="not part of the study")
    if cell not in spreads:
        ends = dict.fromkeys(
            r.outcome for r in report.results.repetitions if r.combination == cell and not r.is_measured
        )
        return TableCell(listing(list(ends)) or "no number", tone="bad" if ends else "quiet")
    spread, planned = spreads[cell], len(report.study.seeds)
    of_load = is_of_the_load(metric)
    limit = _limit(report, cell, metric)
    notes = [
        _range(spread, scale),
        "not durable" if cell in report.not_durable else "",
        f"{spread.n} of {planned} seeds" if spread.n < planned else "",
        f"limit: {SHORT.get(limit, limit)}" if of_load and limit != MEDIUM_LIMIT else "",
        "not steady" if of_load and cell in report.unsteady else "",
    ]
    tone = "warn" if spread.n < planned or cell in report.not_durable else "best" if best else ""
    return TableCell(scale.number(spread.median), note="\n".join(filter(None, notes)), tone=tone)


def _limit(report: Report, cell: Combination, metric: str) -> str:
    """Return what limited a cell, or the phase that a metric is of, if the bytes tell whether memory did. A share of
    bytes says that itself.
    """
    if metric.endswith("_reached_percent"):
        return MEDIUM_LIMIT
    doubt = report.doubts(metric).get(cell)
    if doubt and doubt.kind in MEMORY:
        return doubt.kind
    limit = report.results.limits.get(cell, MEDIUM_LIMIT)
    return MEDIUM_LIMIT if limit == "memory" and phase_of(report.results.metrics, metric) else limit


def _range(spread: Spread, scale: Scale) -> str:
    return "" if spread.n == 1 else f"{scale.number(spread.low)} – {scale.number(spread.high)}"


def _how_to_read(title: str, spreads: Sequence[Spread]) -> str:
    """Return the unit, and what the small numbers are."""
    if all(spread.n == 1 for spread in spreads):
        return f"{title}."
    if any(spread.is_confidence for spread in spreads):
        return f"{title}: the median over seeds, below it its 95 % confidence interval (bootstrap)."
    return f"{title}: the median over seeds, below it the smallest and the largest."


def _best(cells: Mapping[Combination, Numbers], metric: Metric) -> Combination | None:
    """Return the column that is clearly ahead of every other; None if there is none."""

    def leads(numbers: Numbers, others_numbers: Numbers) -> bool:
        return is_ahead(ratio([(others_numbers, numbers) if metric.better == "lower" else (numbers, others_numbers)]))

    for column, numbers in cells.items():
        others = [others_numbers for name, others_numbers in cells.items() if name != column]
        if others and all(leads(numbers, others_numbers) for others_numbers in others):
            return column
    return None


def data_table(drawing: Drawing) -> ReportTable:
    """Return the numbers of a figure."""
    several = len(drawing.panels) > 1
    rows, heads = [], []
    for panel in drawing.panels:
        for position, label in enumerate(drawing.x_values.values()):
            heads.append([capitalized(panel.title), label] if several else [label])
            spreads = {series.label: series.points[position].spread for series in panel.series}
            rows.append(
                [_data_cell(spreads.get(label_), drawing.scale) for label_, _ in drawing.legend or _only(drawing)]
            )
    return ReportTable(
        caption=f"{drawing.title}: the numbers",
        note=f"{drawing.y_title}.",
        corner=["", drawing.x_title] if several else [drawing.x_title],
        columns=[label for label, _ in drawing.legend or _only(drawing)],
        rows=[Row(head, cells) for head, cells in zip(_spanned(heads), rows, strict=True)],
    )


def _only(drawing: Drawing) -> list[tuple[str, int]]:
    return [(series.label, series.slot) for panel in drawing.panels[:1] for series in panel.series]


def _data_cell(spread: Spread | None, scale: Scale) -> TableCell:
    if spread is None:
        return TableCell("no result", tone="quiet")
    return TableCell(scale.number(spread.median), note=_range(spread, scale))


def _in_order(report: Report, names: Sequence[str], present: set[Combination]) -> list[Combination]:
    """Return combinations of some axes in the order of the study."""
    places = [{value: place for place, value in enumerate(report.results.axes[name])} for name in names]
    return sorted(present, key=lambda values: [place[value] for place, value in zip(places, values, strict=True)])


def _spanned(rows: Sequence[Sequence[str]]) -> list[list[Head]]:
    """Return row headers; a header that repeats in the rows below spans them."""
    heads: list[list[Head]] = [[] for _ in rows]
    depth = len(rows[0]) if rows else 0
    for level in range(depth):
        place = 0
        for _, same in groupby(rows, key=lambda row: tuple(row[: level + 1])):
            length = len(list(same))
            if level < depth - 1:
                heads[place].append(Head(rows[place][level], length))
            else:
                for offset in range(length):
                    heads[place + offset].append(Head(rows[place + offset][level]))
            place += length
    return heads


OF_FIO = ("bandwidth", "iops", "latency_mean_us", "latency_p99_us", "flush_mean_us", "flush_p99_us", "runtime_s")
"""The metrics that fio reports on any system."""


def elsewhere_table(report: Report) -> ReportTable:
    """Return what other systems measured: a row for each system and cell that has results, in the order of the study.
    Real time and virtual time are never in one table.
    """
    results = report.elsewhere
    assert results is not None
    spreads = {metric: of_metric for metric in OF_FIO if (of_metric := results.spreads(metric))}
    cells = [cell for cell in results.combinations() if any(cell in of_metric for of_metric in spreads.values())]
    scales = {
        metric: scale_of(metric_of(metric), (spread.high for spread in of_metric.values()))
        for metric, of_metric in spreads.items()
    }
    rows = []
    for cell in cells:
        heads = [Head(report.words.value(axis, value)) for axis, value in results.coordinates(cell).items()]
        shown = []
        for metric, of_metric in spreads.items():
            spread = of_metric.get(cell)
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
