# SPDX-License-Identifier: Apache-2.0
"""A load may flush files without new data: then whether its commits were carried out is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.guest_output.durability import Commits, durability
from flashbed.workload.fio.workload import Fio
from tests.support.facts import Facts
from tests.support.made_up_results import made_up_frame, made_up_study
from tests.unit.report.test_durability import CACHED, LYING, compared, fio, out, shown
from tests.unit.report.written_report import written


def test_fewer_flushes_than_commits_tell_nothing_where_some_may_be_empty() -> None:
    commits = Commits(99, may_be_empty=True)
    assert durability(commits, out(99), CACHED).text == "durable"
    assert durability(commits, out(98), CACHED).text == Facts(
        "not known: 98 flushes for 99 commits", "without new data"
    )
    assert durability(commits, out(99), LYING).text == "not durable: the medium ignores flushes"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"fsync": "1", "nrfiles": "4"}, True),
        ({"fsync": "1", "filename": "a:b"}, True),
        ({"fsync": "1", "filename": "a\\:b"}, False),
        ({"fsync": "1"}, False),
        ({"sync": "1", "nrfiles": "4"}, False),
    ],
)
def test_fio_flushes_the_file_that_is_next_in_turn(options: dict[str, str], expected: bool) -> None:
    assert Fio().commits({}, fio({"writes": 40, "syncs": 39}, **options)).may_be_empty == expected


def test_where_it_is_not_known_nothing_is_recommended() -> None:
    open_ = "not known: 1 flush for 39 commits, some of which may be of files without new data"
    lines_, text, _ = shown(*compared({("fast", "4k"): open_, ("fast", "64k"): open_}))
    assert any(line.startswith("Not decided") and "commits not known" in line for line in lines_), lines_
    assert "not known whether all commits were carried out" in text[0]


def test_a_report_says_where_it_is_not_known(tmp_path: Path) -> None:
    study = made_up_study()
    frame = made_up_frame(study).assign(durable="durable")
    frame.loc[(frame["filesystem"] == "f2fs") & (frame["pattern"] == "randwrite"), "durable"] = "not known: 1 flush"
    page = written(tmp_path, study, frame)
    assert Facts("not known in 3 cells", "job of fio with one file").within(" ".join(page.text.split()))
    assert "NOT DURABLE" not in page.text
