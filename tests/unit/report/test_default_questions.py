# SPDX-License-Identifier: Apache-2.0
"""The questions of a study that asks none, and the lines on the terminal at the end of a run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest

from flashbed.report import on_terminal
from flashbed.result.metrics import METRICS
from flashbed.study.loading import Study, load_study
from flashbed.study.slicing import narrowed
from flashbed.workload import WORKLOADS
from tests.support.facts import Facts
from tests.support.made_up_results import made_up_frame, made_up_study, rows_of
from tests.support.repository import REPOSITORY
from tests.support.samples import write_study
from tests.support.tabled import report_of
from tests.unit.report.written_report import written


def asks_nothing(**changed: Any) -> Study:
    study = replace(made_up_study(), answer=None, figures=(), tables=(), choices=(), claims=(), **changed)
    return study.with_defaults()


def lines_of(study: Study, frame: pandas.DataFrame) -> list[str]:
    return on_terminal.lines(report_of(study, rows_of(frame)))


def test_the_readmes_first_study_is_asked_something(tmp_path: Path) -> None:
    [text, _] = re.findall(
        r"^```toml tested\n(.*?)^```$", (REPOSITORY / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "my.toml").write_text(text)
    study = load_study(tmp_path / "my.toml")
    assert study.answer
    assert (study.answer.compare, study.answer.by, study.answer.metric) == (
        ("filesystem",),
        ("pattern",),
        ("bandwidth",),
    )
    [table], [figure] = study.tables, study.figures
    assert (table.rows, table.columns, table.metric) == (("pattern", "request"), ("filesystem",), ("bandwidth",))
    assert (figure.x, figure.series, figure.y, figure.kind) == (
        "request", ("filesystem", "pattern"), "bandwidth", "line"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("axes", "compare", "by"),
    [
        ({"medium": ("a", "b"), "filesystem": ("c", "d")}, "filesystem", ("medium",)),
        ({"medium": ("a", "b"), "filesystem": ("c",), "request": ("4k", "64k")}, "medium", ()),
        ({"request": ("4k", "64k"), "flush": ("none", "fsync")}, "request", ("flush",)),
        ({"pattern": ("read", "write"), "request": ("4k", "64k")}, "request", ("pattern",)),
        ({"pattern": ("read", "write")}, None, None),
        ({"filesystem": ("a",)}, None, None),
        ({}, None, None),
    ],
)
def test_what_is_compared(axes: dict[str, tuple[str, ...]], compare: str | None, by: tuple[str, ...] | None) -> None:
    answer = asks_nothing(axes=axes).answer
    assert (answer and answer.compare[0], answer and answer.by) == (compare, by)


def test_what_a_study_asks_is_left_as_it_is(tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path))
    assert study.by_default == frozenset()
    assert study.with_defaults() == study


def test_every_tool_names_metrics_that_have_a_better_direction() -> None:
    for name, tool in WORKLOADS.items():
        metrics = tool.headline({})
        assert metrics, name
        assert all(METRICS[metric].better for metric in metrics), name
    assert WORKLOADS["iozone"].headline({"tests": ("write, read", "write")}) == ("write_bandwidth",)
    assert WORKLOADS["fxmark"].headline({"tests": ("read-private",)}) == ("operations",)
    assert WORKLOADS["fxmark"].headline({"tests": ("read-private, unlink-shared",)}) == (
        "read_private_operations", "unlink_shared_operations"
    )  # fmt: skip


def test_a_load_that_commits_is_asked_how_long_its_commits_take() -> None:
    """FAT32 was called fastest by 4 %, although one commit of a hundred took six times as long as on F2FS."""
    both = ("bandwidth", "commit_p99_us")
    answer = asks_nothing(axes={"filesystem": ("a", "b")}, job={"own.fio": "[a]\nrw=write\n fdatasync = 4\n"}).answer
    assert answer
    assert answer.metric == both
    fio = WORKLOADS["fio"]
    assert fio.headline({"flush": ("fsync-each",)}) == both
    assert fio.headline({"flush": ("fsync-each", "fsync")}) == fio.headline({"flush": ("fsync",)}) == both[:1]
    jobs = ("[a]\nfsync=1", "[a]\nfsync=${often}")
    assert fio.headline({"job": jobs}) == both
    for text in ("[a]\n#fsync=1", "[a]\nfsync=0", "[a]\nend_fsync=1", "[a]\nfsync_on_close=1"):
        assert fio.headline({"job": (*jobs, text)}) == both[:1], text


def test_a_slice_asks_anew_where_the_file_asks_nothing(tmp_path: Path) -> None:
    study = asks_nothing()
    part = narrowed(study, {"filesystem": ["ext2"]})
    assert part.answer
    assert part.answer.compare == ("request",)
    assert part.slice_note == "A slice, 16 of 48 cells: filesystem ext2:block=4k."
    own = narrowed(load_study(write_study(tmp_path)), {"filesystem": ["ext2"]})
    assert own.answer is None


def test_a_report_has_the_default_answer_a_table_and_a_figure(tmp_path: Path) -> None:
    study = asks_nothing()
    page = written(tmp_path, study, made_up_frame(study))
    assert "Which file system?" in page.text
    assert Facts("no [answer]", "compared by bandwidth, for each pattern").within(page.text)
    assert {"#figures", "#tables"} <= page.internal_links()
    lines = lines_of(study, made_up_frame(study))
    assert lines[0] == "Which file system?"
    assert any("is fastest for" in line for line in lines)
    assert lines == json.loads((tmp_path / "results.json").read_text())["told"]


def test_a_study_of_one_cell_tells_its_figures(tmp_path: Path) -> None:
    study = asks_nothing(axes={}, seeds=(1,))
    frame = pandas.DataFrame([
        {"seed": 1, "outcome": "measured", "reason": "", "key": "k" * 64, "check": "", "bandwidth": 7.42}
    ])  # fmt: skip
    page = written(tmp_path, study, frame)
    assert "7.42" in page.text
    assert lines_of(study, frame)[:2] == ["Nothing is compared:", "  the only cell: bandwidth 7.42 MiB/s"]


def test_what_was_lost_is_said_on_the_terminal() -> None:
    study = made_up_study()
    frame = made_up_frame(study).assign(durable="durable")
    lost = (frame["filesystem"] == "f2fs") & (frame["pattern"] == "randwrite")
    frame.loc[lost, "durable"] = "not durable: 0 flushes for 950 commits"
    text = "\n".join(lines_of(study, frame))
    assert "  NOT DURABLE, and not compared: F2FS for random write" in text
    assert "NOT DURABLE in 3 cells" in text
    assert "repetitions gave no result" in text
