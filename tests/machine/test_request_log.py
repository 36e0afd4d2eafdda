# SPDX-License-Identifier: Apache-2.0
"""A cell of a traced figure keeps the requests that its block device got while it was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.guest_output import request_log
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

STUDY = """
    filesystem = "ext2:block=4k"
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "1M"
    flush = "fsync"
    [[trace]]
    title = "Requests"
"""


@pytest.mark.parametrize(
    "stack",
    [
        {"medium": "slc-nand-64m", "translation": "ftl-page"},
        pytest.param({"medium": "usb-stick-2g"}, marks=pytest.mark.long),
    ],
)
def test_what_was_measured_is_in_the_log(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, stack: dict[str, str]
) -> None:
    (repetition,) = run.prepare(load_study(study_file(STUDY, **stack)))
    finished = measure(repetition, tmp_path / "work")
    for name, data in finished.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    log = request_log.read(tmp_path / "out")
    times = [request.begun_ns for request in log.requests]
    assert 0 < times[0] < log.measured_ns
    assert times == sorted(times)
    assert all(request.done_ns > request.begun_ns for request in log.requests if request.length_bytes)
    written = [r.length_bytes for r in log.requests if r.operation == "write" and r.begun_ns < log.measured_ns]
    # All of the file was flushed, and its inode and bitmaps with it; the preparation before it is not in the log.
    assert 1 << 20 <= sum(written) < 1.1 * (1 << 20)
