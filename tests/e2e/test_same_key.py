# SPDX-License-Identifier: Apache-2.0
"""Two cells of a study that come down to the same key, as of two kernels that are the same to the last byte."""

from __future__ import annotations

import json

from tests.support.fixture_types import Flashbed, StudyWriter

STUDY = """
    [axes]
    filesystem = ["ext2", "ext2:block=4k"]
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "256k"
"""


def test_both_have_the_result_and_it_is_measured_once(flashbed: Flashbed, study_file: StudyWriter) -> None:
    study = study_file(STUDY)
    for _ in ("measured now", "measured before"):
        done = flashbed("run", study, "--out", "report")
        assert done.returncode == 0, done.stderr
        rows = json.loads((study.parent / "report/results.json").read_text())["repetitions"]
        assert [(row["filesystem"], row["outcome"]) for row in rows] == [
            ("ext2", "measured"),
            ("ext2:block=4k", "measured"),
        ]
        assert rows[0]["key"] == rows[1]["key"]
        assert rows[0]["metrics"] == rows[1]["metrics"]
    assert len(list((study.parent / "cache/results/cells").glob("*/*"))) == 1
