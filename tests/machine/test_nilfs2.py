# SPDX-License-Identifier: Apache-2.0
"""NILFS2 has no checker on the host: that it is made, mounted and written in a guest is all there is to see."""

from __future__ import annotations

from pathlib import Path

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

STUDY = """
    filesystem = "nilfs2"
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "1M"
    flush = "fsync-each"
"""


def test_it_writes_a_log(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    (repetition,) = run.prepare(load_study(study_file(STUDY)))
    metrics = measure(repetition, tmp_path / "work").result.measurement.metrics
    # A block of data brings those of its log with it: the segment's summary, and the file's and the inode's own.
    assert metrics["medium_written_bytes"] > 2 * metrics["requested_bytes"] > 0
