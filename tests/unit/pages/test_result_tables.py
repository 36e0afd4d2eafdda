# SPDX-License-Identifier: Apache-2.0
"""Tables of results in docs/ are written from the stored results: by made-up results, and the places in the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import study_cost
from flashbed.common.errors import InputError
from flashbed.report.model import Report
from flashbed.study.loading import shipped_studies
from flashbed.study.plan import plan
from pages import result_tables
from pages.result_tables import COSTS, DOCS, Declared, declared_tables, names_in, renewed, result_table
from tests.support.facts import Facts
from tests.support.made_up_results import FILESYSTEMS, made_up_study
from tests.support.tabled import report_of

FAT16, EXT2, F2FS = FILESYSTEMS
BANDWIDTH = {FAT16: (5.1, 5.2, 5.3), EXT2: (6.0, 7.0, 8.0), F2FS: (9.0, 9.1, 9.2)}
STUDY = replace(made_up_study(), axes={"filesystem": FILESYSTEMS, "pattern": ("write",), "request": ("4k", "64k")})
TABLE: dict[str, Any] = {
    "study": "choose-fs",
    "rows": ["pattern", "request"],
    "across": "filesystem",
    "columns": [{"metric": "bandwidth"}],
}


def report(of_ext2: Mapping[str, Any] | None = None, lost: int = 0) -> Report:
    rows = []
    for cell in STUDY.combinations():
        for seed in STUDY.seeds:
            row = {**cell, "seed": seed, "outcome": "measured", "reason": "", "key": "k"}
            row |= {"bandwidth": BANDWIDTH[cell["filesystem"]][seed - 1], "flush_mean_us": 12_345.0}
            rows.append({**row, **(of_ext2 or {})} if cell["filesystem"] == EXT2 else row)
    return report_of(STUDY, rows[lost:])


def made(declared: Mapping[str, Any], of_ext2: Mapping[str, Any] | None = None) -> list[str]:
    return result_table(report(of_ext2), Declared.model_validate(declared)).splitlines()


def test_a_row_for_each_load_and_a_column_for_each_value() -> None:
    *lines, reading, rest = made(TABLE)
    assert lines == [
        "| Pattern | Request size | FAT16 | ext2 | F2FS |",
        "| --- | --- | ---: | ---: | ---: |",
        "| sequential write | 4k | 5.20 | 6.00 to 8.00 | 9.10 |",
        "| sequential write | 64k | 5.20 | 6.00 to 8.00 | 9.10 |",
        "",
    ]
    assert (
        Facts("`flashbed run choose-fs`", "bandwidth (MiB/s)", "median", "3 seeds", "1.25 times") == f"{reading} {rest}"
    )


def test_several_metrics_have_columns_of_their_own_with_their_unit() -> None:
    where = {"filesystem": [FAT16]}
    rate = {"metric": "bandwidth", "where": {"request": ["64k"]}}
    flush = {"metric": "flush_mean_us", "title": "flush", "where": {"request": ["4k"]}}
    wanted = {**TABLE, "rows": ["filesystem"], "across": "", "columns": [rate], "where": where}
    assert made(wanted)[0] == "| File system | Bandwidth |"
    assert made({**wanted, "columns": [rate, flush]})[:3] == [
        "| File system | Bandwidth (MiB/s) | flush (ms) |",
        "| --- | ---: | ---: |",
        "| FAT16 | 5.20 | 12.3 |",
    ]


def test_a_column_may_show_what_a_metric_divides() -> None:
    column = {"metric": "bandwidth", "title": "Seconds", "divides": 48, "where": {"request": ["4k"]}}
    lines = made({**TABLE, "rows": ["filesystem"], "across": "", "columns": [column]})
    assert (lines[0], lines[3]) == ("| File system | Seconds |", "| ext2 | 6.00 to 8.00 |")


def test_what_limits_trust_in_a_figure_stands_with_it() -> None:
    unsteady = made(TABLE, {"steady": "not steady: it falls"})
    assert unsteady[2] == "| sequential write | 4k | 5.20 | ~6.00 to 8.00 | 9.10 |"
    assert Facts("~", "not steady").within(unsteady)
    assert made(TABLE, {"limit": "memory"})[2].split(" | ")[3] == "6.00 to 8.00 (memory)"


def test_two_cells_in_one_place_are_refused() -> None:
    with pytest.raises(InputError, match="several cells"):
        made({**TABLE, "rows": ["pattern"]})
    with pytest.raises(InputError, match="no cells"):
        made({**TABLE, "where": {"request": ["16k"]}})


PAGE = "A\n\n<!-- result-table one -->\n\nold\n\n<!-- /result-table -->\n\nB\n"


def test_only_the_places_of_tables_change() -> None:
    assert names_in(PAGE * 2) == ["one", "one"]
    assert renewed(PAGE, {"one": "| a |\n"}) == PAGE.replace("old\n", "| a |\n")
    assert renewed(PAGE, {"two": "| a |\n"}) == PAGE
    empty = PAGE.replace("old\n\n", "")
    assert renewed(empty + PAGE, {"one": "| a |\n"}) == PAGE.replace("old\n", "| a |\n") * 2


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    (tmp_path / "other.md").write_text("no table\n")
    monkeypatch.setattr(result_tables, "DOCS", tmp_path)
    monkeypatch.setattr(result_tables, "declared_tables", lambda: {"one": Declared.model_validate(TABLE)})
    monkeypatch.setattr(result_tables, "stored_report", lambda _: report(lost=1))
    assert result_tables.main([]) == 1
    assert page.read_text() == PAGE
    assert "`flashbed run choose-fs`" in capsys.readouterr().err
    monkeypatch.setattr(result_tables, "stored_report", lambda _: report())
    assert result_tables.main(["--check"]) == 1
    assert page.read_text() == PAGE
    assert "make result-tables" in capsys.readouterr().err
    assert result_tables.main(["--only", "choose-fs"]) == 0
    assert "| 5.20 |" in page.read_text()
    assert result_tables.main(["--check"]) == 0


def test_each_declared_table_has_one_place_and_its_study_has_its_cells() -> None:
    places = [name for page in DOCS.glob("*.md") for name in names_in(page.read_text())]
    assert sorted(name for name in places if name != COSTS) == sorted(declared_tables())
    studies = {study.name: study for study in shipped_studies()}
    for name, wanted in declared_tables().items():
        empty = report_of(studies[wanted.study], [])
        assert len(result_table(empty, wanted).splitlines()) > 4, name


def test_each_recorded_cost_is_of_the_repetitions_that_the_study_has() -> None:
    studies = {study.name: study for study in shipped_studies()}
    planned = {name: len(plan(studies[name])) for name in study_cost.recorded()}
    assert {name: cost.repetitions for name, cost in study_cost.recorded().items()} == planned
