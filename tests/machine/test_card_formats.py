# SPDX-License-Identifier: Apache-2.0
"""The formats that cards come with, FAT32 and exFAT: made, mounted, written and found whole by their own checkers."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter
from tests.support.verdicts import verdict

STUDY = 'workload = { tool = "fio", pattern = "randwrite", request = "4k", file = "1M", flush = "fsync" }\n'
CARD = "sd-good:used_bytes=256M"


@pytest.mark.parametrize(
    ("filesystem", "mounted_as", "least_written_bytes"),
    [
        ("fat32", "vfat", 1 << 20),
        ("fat32:cluster=2k,reserved=8192,flush", "vfat", 1 << 20),
        ("exfat", "exfat", 1 << 20),
        ("exfat:cluster=128k,align=8M", "exfat", 1 << 20),
    ],
)
def test_a_card_is_measured_with_its_own_format(
    study_file: StudyWriter,
    measure: Measure,
    tmp_path: Path,
    filesystem: str,
    mounted_as: str,
    least_written_bytes: int,
) -> None:
    (repetition,) = run.prepare(load_study(study_file(STUDY, filesystem=filesystem, medium=CARD)))
    result = measure(repetition, tmp_path / "cell").result
    assert result.outcome == "measured"
    assert result.check == ""
    assert mounted_as in result.measurement.mounted
    assert result.measurement.metrics["medium_written_bytes"] >= least_written_bytes


def test_the_checker_of_exfat_sees_damage(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    """Else a clean verdict would say nothing. The volume's own allocation table is put out of order."""
    (repetition,) = run.prepare(load_study(study_file(STUDY, filesystem="exfat", medium=CARD)))
    assert measure(repetition, tmp_path / "cell").result.is_measured
    (data,) = (tmp_path / "cell").rglob("data.img")
    assert verdict(repetition.cell, data) == ""
    with data.open("r+b") as image:
        image.seek(64)  # the boot sector's fields, which its checksum covers
        image.write(b"\xff" * 16)
    assert verdict(repetition.cell, data)
