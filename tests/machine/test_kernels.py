# SPDX-License-Identifier: Apache-2.0
"""Cells on the kernel that is not the default: what mounts, which modules load, and that it is that kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

OTHER = "6.12"

STUDY = """
    [workload]
    tool = "fio"
    pattern = "randwrite"
    request = "4k"
    file = "1M"
    flush = "fsync"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("filesystem", "more"),
    [
        ("fat16:cluster=32k", {}),
        ("fat32", {}),
        ("exfat", {}),
        ("ext2", {"scheduler": "cfq"}),
        ("f2fs", {"scheduler": "anticipatory"}),
        ("jffs2", {"medium": "slc-nand-64m"}),
        ("yaffs2", {"medium": "slc-nand-256m"}),
        ("ext2", {"medium": "slc-nand-64m", "translation": "ftl-page"}),
    ],
)
def test_the_other_kernel_measures(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, filesystem: str, more: dict[str, str]
) -> None:
    study = load_study(study_file(STUDY, filesystem=filesystem, kernel=OTHER, **more))
    (repetition,) = run.prepare(study)
    finished = measure(repetition, tmp_path / "cell")
    metrics = finished.result.measurement.metrics
    assert metrics["requested_bytes"] == 1 << 20
    assert metrics["medium_written_bytes"] >= 1 << 20
    assert not finished.result.check


@pytest.mark.long
def test_another_kernel_is_another_cell(study_file: StudyWriter) -> None:
    study = load_study(study_file(f'[axes]\nkernel = ["6.1", "{OTHER}"]\n{STUDY}', filesystem="ext2"))
    first, second = run.prepare(study)
    assert first.key != second.key
    assert first.cell.kernel == "6.1"
    assert second.cell.kernel == OTHER
