# SPDX-License-Identifier: Apache-2.0
"""A study with `power_cut`: when all is measured the power of a raw chip goes, and the next mount is timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.execution import run
from flashbed.study.loading import load_study
from tests.support.fixture_types import Measure, StudyWriter

WORKLOAD = '[workload]\ntool = "fio"\npattern = "randwrite"\nrequest = "4k"\nfile = "1M"\nflush = "fsync"\n'


def cut(
    study_file: StudyWriter, measure: Measure, folder: Path, filesystem: str, translation: str = "none"
) -> tuple[str, float | None]:
    """Return the guest's lines on the cut, and the time of the mount after it; None if the mount failed."""
    chip = "slc-nand-256m:used_bytes=32M,factory_bad_blocks=0"
    top = {"filesystem": filesystem, "translation": translation, "medium": chip}
    cells = [run.prepare(load_study(study_file(WORKLOAD, power_cut=is_cut, **top)))[0] for is_cut in (True, False)]
    assert cells[0].key != cells[1].key
    done = measure(cells[0], folder / "work")
    inspection = cells[0].image.media_tool.inspect(folder / "work" / "state.bin")
    assert inspection.fault is None
    assert inspection.counters["violations"] == 0
    output = done.files["out/cut.txt"].decode()
    assert "the power is: off" in output
    return output, done.result.measurement.metrics.get("mount_after_cut_s")


def test_ubifs_is_mounted_after_a_cut(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    output, mount_s = cut(study_file, measure, tmp_path, "ubifs")
    assert mount_s is not None, output
    assert mount_s > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("filesystem", "translation"), [("jffs2", "none"), ("yaffs2", "none"), ("ext2", "ftl-page"), ("fat16", "ftl-fast")]
)
def test_others_are_mounted_after_a_cut(
    study_file: StudyWriter, measure: Measure, tmp_path: Path, filesystem: str, translation: str
) -> None:
    output, mount_s = cut(study_file, measure, tmp_path, filesystem, translation)
    assert mount_s is not None, output
    assert mount_s > 0


@pytest.mark.long
def test_a_mount_that_fails_is_told(study_file: StudyWriter, measure: Measure, tmp_path: Path) -> None:
    """mtdblock writes a block back as a whole: the cut takes pages that nobody was writing, here ext4's journal."""
    output, mount_s = cut(study_file, measure, tmp_path, "ext4", "mtdblock")
    assert "mounting /dev/mtdblock0 on /mnt failed: Input/output error" in output
    assert mount_s is None
