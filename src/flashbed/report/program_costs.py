# SPDX-License-Identifier: Apache-2.0
"""Where the time of a study's programs went, and which of their files cost most: two tables, for the cells whose calls
were noted. Must not know HTML.
"""

from __future__ import annotations

from flashbed.analysis import Spread
from flashbed.analysis.words import ONLY_CELL, capitalized, number
from flashbed.common import foreign
from flashbed.guest_output.program_calls import CallSummary, CostlyFile, Spent, work_ns
from flashbed.report.model import Report
from flashbed.report.tables import Head, ReportTable, Row, TableCell
from flashbed.result.columns import Combination

TIME_HEADS = {
    Spent.FLUSH: "Flushes",
    Spent.WRITE: "Writes",
    Spent.READ: "Reads",
    Spent.NAMES: "Names",
    Spent.OWN_CPU: "Own CPU",
    Spent.FAULTS: "Page faults",
    Spent.WAITING: "Waiting",
    Spent.OTHER: "Other calls",
}
"""The heads of the columns of times, the medium's first."""

SHOWN_FROM = 0.5
"""The smallest percentage for which a table has a column."""

MOST_CELL_FILES = 5
"""The most files of a cell that the table shows."""

LONGEST_PATH_SHOWN = 100


def where_time_goes(report: Report) -> ReportTable | None:
    """Return a row for each cell whose programs' calls were noted; None if there is none."""
    cells = _summaries(report)
    if not cells:
        return None
    shares = {spent: report.results.spreads(f"time_{spent}_percent") for spent in TIME_HEADS}
    medium, cpu = (report.results.spreads(f"busy_{part}_percent") for part in ("medium", "cpu"))
    shown = [spent for spent in TIME_HEADS if any(spread.high >= SHOWN_FROM for spread in shares[spent].values())]
    rows = [
        Row(
            _places(report, cell),
            [
                _seconds(sum(work_ns(calls.spent_ns).values())),
                *(_share(shares[spent].get(cell)) for spent in shown),
                _share(medium.get(cell)),
                _share(cpu.get(cell)),
            ],
        )
        for cell, calls in cells.items()
    ]
    left_out = (
        "" if len(shown) == len(TIME_HEADS) else f" Columns with less than {SHOWN_FROM} % everywhere are left out."
    )
    return ReportTable(
        caption="Where the programs’ time went",
        note="The time of all threads (first seed, seconds), without waiting for other processes to end, and what of "
        "it was spent in calls on the medium, on the CPU, in page faults, and waiting; medians over seeds. Flushes, "
        "writes and reads wait for the medium or for the file system. Own CPU includes waiting for a CPU that another "
        "thread uses. The last two columns say for how much of the measurement the medium and the CPU were at "
        f"work.{left_out}",
        corner=_corner(report),
        columns=["Time (s)", *(TIME_HEADS[spent] for spent in shown), "Medium at work", "CPU at work"],
        rows=rows,
        kind="sortable",
    )


def costly_files(report: Report) -> ReportTable | None:
    """Return a row for each of the files that cost a cell's programs most; None if no calls on files were noted."""
    rows = []
    for cell, calls in _summaries(report).items():
        whole_ns = sum(work_ns(calls.spent_ns).values())
        for file in calls.files[:MOST_CELL_FILES]:
            if 100 * file.spent_ns < SHOWN_FROM * whole_ns:
                continue
            name = Head(foreign.line(file.path, LONGEST_PATH_SHOWN))
            rows.append(Row([*_places(report, cell), name], _file_cells(file, whole_ns)))
    if not rows:
        return None
    return ReportTable(
        caption="Which files cost most",
        note=f"Up to {MOST_CELL_FILES} files of each cell, each with {SHOWN_FROM} % of the time or more; first seed. A "
        "renamed file has the name with which it was opened. Accesses to mapped files are no calls.",
        corner=[*_corner(report), "File"],
        columns=["Time (s)", "Of the time", "Calls", "Read (KiB)", "Written (KiB)", "Flushes"],
        rows=rows,
        kind="sortable",
    )


def _summaries(report: Report) -> dict[Combination, CallSummary]:
    """Return the calls of each cell's first seed that has them."""
    cells: dict[Combination, CallSummary] = {}
    for repetition in report.results.repetitions:
        if repetition.is_measured and repetition.calls is not None:
            cells.setdefault(repetition.combination, repetition.calls)
    return cells


def _corner(report: Report) -> list[str]:
    return [capitalized(report.words.axis(axis)) for axis in report.results.axes] or ["Cell"]


def _places(report: Report, cell: Combination) -> list[Head]:
    heads = [Head(report.words.value(axis, value)) for axis, value in report.results.coordinates(cell).items()]
    return heads or [Head(capitalized(ONLY_CELL))]


def _file_cells(file: CostlyFile, whole_ns: int) -> list[TableCell]:
    share = 100 * file.spent_ns / whole_ns if whole_ns else 0.0
    return [
        _seconds(file.spent_ns),
        TableCell(f"{share:.0f} %", sort=share),
        TableCell(f"{file.calls:,}", sort=file.calls),
        *(TableCell(number(moved / 1024), sort=moved) for moved in (file.read_bytes, file.written_bytes)),
        TableCell(f"{file.flushes:,}", sort=file.flushes),
    ]


def _seconds(ns: int) -> TableCell:
    return TableCell(number(ns / 1e9), sort=ns)


def _share(spread: Spread | None) -> TableCell:
    return TableCell(f"{spread.median:.0f} %", sort=spread.median) if spread else TableCell("–", tone="quiet")
