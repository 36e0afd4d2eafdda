# SPDX-License-Identifier: Apache-2.0
"""The tables of where the time of programs went, and of the files that cost most."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flashbed.guest_output.program_calls import CallSummary, CostlyFile, Spent
from flashbed.report import program_costs, updating
from flashbed.report.inputs import ReportInputs
from flashbed.report.model import Report, report_of
from flashbed.result.columns import ResultRow
from tests.support.made_up_limits import limited
from tests.support.made_up_results import made_up_study, rows_of
from tests.support.tabled import rows_of_study

SPENT = {**dict.fromkeys(Spent, 0), Spent.FLUSH: 1_500_000_000, Spent.OWN_CPU: 500_000_000}
CELL = ("ext2:block=4k", "write", "4k")
DATABASE = CostlyFile("/mnt/db", 1_200_000_000, calls=30, read_bytes=2048, written_bytes=4096, flushes=7)
JOURNAL = CostlyFile("/mnt/db-journal\n\x1b[2J", 300_000_000, calls=9, read_bytes=0, written_bytes=512, flushes=3)


def with_calls(row: ResultRow) -> ResultRow:
    if row.combination != CELL or not row.is_measured:
        return row
    flush, own = 70.0 + row.seed, 30.0 - row.seed
    metrics = {**row.metrics, "time_flush_percent": flush, "time_own_cpu_percent": own, "time_read_percent": 0.1}
    files = [replace(DATABASE, spent_ns=DATABASE.spent_ns + row.seed), JOURNAL]
    return replace(row, metrics=metrics, calls=CallSummary(SPENT, files))


def inputs() -> ReportInputs:
    study = made_up_study()
    return ReportInputs(study, list(map(with_calls, rows_of_study(study, rows_of(limited(study))))))


def report() -> Report:
    return report_of(inputs())


def test_time_goes_to_flushes_and_the_cpu_and_empty_columns_are_left_out() -> None:
    table = program_costs.where_time_goes(report())
    assert table is not None
    assert table.columns == ["Time (s)", "Flushes", "Own CPU", "Medium at work", "CPU at work"]
    (row,) = table.rows
    assert [head.text for head in row.heads] == ["ext2", "sequential write", "4k"]
    assert [cell.text for cell in row.cells][:3] == ["2.00", "72 %", "28 %"]
    assert "Columns with less than 0.5 % everywhere are left out." in table.note


def test_the_files_that_cost_most_come_first_and_their_names_are_printable() -> None:
    table = program_costs.costly_files(report())
    assert table is not None
    assert [row.heads[-1].text for row in table.rows] == ["/mnt/db", "/mnt/db-journal \\x1b[2J"]
    assert [cell.text for cell in table.rows[0].cells] == ["1.20", "60 %", "30", "2.00", "4.00", "7"]


def test_a_study_without_notes_of_calls_has_neither_table() -> None:
    study = made_up_study()
    plain = report_of(ReportInputs(study, rows_of_study(study, rows_of(limited(study)))))
    assert (program_costs.where_time_goes(plain), program_costs.costly_files(plain)) == (None, None)


def test_the_page_shows_both_and_is_written_anew_if_they_change(tmp_path: Path) -> None:
    page = updating.bring_up_to_date(inputs(), report(), tmp_path / "report").read_text()
    assert "Where the programs’ time went" in page
    assert "Which files cost most" in page
    others = replace(inputs(), rows=[replace(row, calls=None) for row in inputs().rows])
    assert updating.inputs_digest(inputs()) != updating.inputs_digest(others)
