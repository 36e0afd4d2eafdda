# SPDX-License-Identifier: Apache-2.0
"""XFS: made, mounted, written and found whole by xfs_repair, which sees damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter
from tests.support.verdicts import verdict

STUDY = 'workload = { tool = "fio", pattern = "randwrite", request = "4k", file = "1M", flush = "fsync" }\n'


@pytest.mark.parametrize(
    ("medium", "filesystem", "mounted"),
    [
        ("usb-stick-2g", "xfs", "xfs"),
        ("nvme-960pro-class:used_bytes=2G", "xfs:groups=8,discard,atime=noatime", "noatime"),
    ],
)
def test_a_medium_is_measured(
    medium: str, filesystem: str, mounted: str, study_file: StudyWriter, measure: Measure, tmp_path: Path
) -> None:
    (repetition,) = run.prepare(load_study(study_file(STUDY, filesystem=filesystem, medium=medium)))
    result = measure(repetition, tmp_path / "cell").result
    assert result.outcome == "measured"
    assert result.check == ""
    assert "xfs" in result.measurement.mounted
    assert mounted in result.measurement.mounted
    assert result.measurement.metrics["medium_written_bytes"] >= 1 << 20


def test_the_checker_sees_damage(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    """Else a clean verdict would say nothing. The first group's header of free space is put out of order."""
    (repetition,) = run.prepare(load_study(study_file(STUDY, filesystem="xfs")))
    assert measure(repetition, tmp_path / "cell").result.is_measured
    (data,) = (tmp_path / "cell").rglob("data.img")
    assert verdict(repetition.cell, data) == ""
    with data.open("r+b") as image:
        image.seek(512)  # AGF: behind the superblock, a sector each
        image.write(b"\xff" * 64)
    assert verdict(repetition.cell, data)
