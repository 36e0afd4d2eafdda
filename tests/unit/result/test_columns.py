# SPDX-License-Identifier: Apache-2.0
"""The columns of results are said once: a column that is added there is everywhere else."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas
import pytest

from flashbed.common.errors import InputError
from flashbed.comparing import result_set
from flashbed.comparing.compared_cells import compare_sets
from flashbed.execution import frames
from flashbed.guest_output.assessment import Assessment, State, Status
from flashbed.result import columns
from flashbed.result.columns import Column
from pages import columns_table
from tests.support.made_up_exports import write
from tests.support.made_up_results import MANIFEST, made_up_frame, made_up_study, rows_of
from tests.support.tabled import bring_up_to_date, rows_of_study


@pytest.fixture
def _more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a column to the columns. No other code changes."""
    added = Column("ended", "how it ended, in capitals", lambda row: row.outcome.upper(), compared=True, optional=True)
    monkeypatch.setattr(columns, "COLUMNS", (*columns.COLUMNS, added))


@pytest.mark.usefixtures("_more")
def test_a_column_that_is_added_is_everywhere(tmp_path: Path) -> None:
    study = made_up_study()
    tabled = rows_of(made_up_frame(study))
    bring_up_to_date(study, tabled, MANIFEST, tmp_path)
    expected = [str(row["outcome"]).upper() for row in tabled]
    ends = {"MEASURED", "FAILED"}
    assert set(expected) == ends

    with (tmp_path / "results.csv").open(newline="") as file:
        assert sorted(row["ended"] for row in csv.DictReader(file)) == sorted(expected)
    assert sorted(pandas.read_parquet(tmp_path / "results.parquet")["ended"]) == sorted(expected)
    document = json.loads((tmp_path / "results.json").read_text())
    assert sorted(row["ended"] for row in document["repetitions"]) == sorted(expected)
    assert sorted(frames._frame(rows_of_study(study, tabled), study.axes)["ended"]) == sorted(expected)
    (compared,) = result_set.read_all(str(tmp_path)).values()
    assert {seed.texts["ended"] for seeds in compared.cells.values() for seed in seeds.values()} == ends
    changed = [{**row, "ended": "CUT"} for row in document["repetitions"]]
    (tmp_path / "later").mkdir()
    (tmp_path / "later/results.json").write_text(json.dumps({**document, "repetitions": changed}))
    (later,) = result_set.read_all(str(tmp_path / "later")).values()
    differing = [text.column for cell in compare_sets(compared, later).cells for text in cell.other_texts]
    assert set(differing) == {"ended"}
    assert "| `ended` | how it ended, in capitals |" in columns_table.with_columns(columns_table.PAGE.read_text())
    assert "ended" in columns.names()  # no axis of a study has its name


def test_a_report_of_before_may_lack_a_later_column() -> None:
    row = dict.fromkeys(("outcome", "check", "mounted", "limit", "writes"), "")
    assessed = {"steady": "not steady: falls by 4: 1", "fresh": ""}
    assert columns.compared_texts(row) == row
    falls = Assessment(State.NOT_STEADY, "falls by 4: 1")
    expected = {"durable": Assessment(), "steady": falls, "fresh": Assessment()}
    assert columns.compared_assessments(assessed) == expected
    with pytest.raises(KeyError):
        columns.compared_texts({"outcome": "measured"})
    with pytest.raises(KeyError):
        columns.compared_assessments({"steady": "steady"})


def test_an_assessment_is_exported_as_state_and_reason(tmp_path: Path) -> None:
    study = made_up_study()
    tabled = [{**row, "steady": "not steady: falls by 4: 1"} for row in rows_of(made_up_frame(study))]
    bring_up_to_date(study, tabled, MANIFEST, tmp_path)
    document = json.loads((tmp_path / "results.json").read_text())
    for row in document["repetitions"]:
        assert row["steady"] == "not steady: falls by 4: 1"
        assert row["assessments"] == {"steady": {"state": "not steady", "reason": "falls by 4: 1"}}
    # The text is not read where state and reason are there
    changed = [{**row, "steady": "other"} for row in document["repetitions"]]
    (tmp_path / "results.json").write_text(json.dumps({**document, "repetitions": changed}))
    (read,) = result_set.read_all(str(tmp_path)).values()
    steady = {seed.assessments["steady"] for seeds in read.cells.values() for seed in seeds.values()}
    assert steady == {Assessment(State.NOT_STEADY, "falls by 4: 1")}


@pytest.mark.parametrize(
    "wrong", [[], 5, {"steady": 5}, {"steady": {"state": 5}}, {"steady": {"state": "shaky"}}, {"steady": {"text": ""}}]
)
def test_assessments_that_are_none_are_no_set_of_results(wrong: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a set of results"):
        result_set.read_all(str(write(tmp_path / "a", lambda row: row.update(assessments=wrong))))


def test_a_column_of_own_kernels_is_there_only_where_a_row_has_one() -> None:
    row = columns.ResultRow((), 1, Status.MEASURED)
    own = columns.ResultRow((), 1, Status.MEASURED, kernel_source="linux 0123")
    assert "kernel_source" not in [column.name for column in columns.columns_of([row])]
    assert "kernel_source" in [column.name for column in columns.columns_of([row, own])]


def test_the_documented_table_is_that_of_the_columns() -> None:
    page = columns_table.PAGE.read_text()
    assert page == columns_table.with_columns(page), "run `make columns`"
