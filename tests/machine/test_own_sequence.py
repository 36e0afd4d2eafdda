# SPDX-License-Identifier: Apache-2.0
"""A job with a sequence of its own (/job/cell): a guest that starts from the medium that another one left."""

from __future__ import annotations

from pathlib import Path

from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

AGAIN = b"""
. /lib/flashbed/steps
step medium load_medium
step mount sh /job/mount
step content cat /mnt/content
step finish umount /mnt
"""


def test_a_second_guest_reads_what_the_first_one_wrote(study_file: StudyWriter, tmp_path: Path) -> None:
    study = study_file(guest_rig.STUDY, filesystem="ext2", seeds=1)
    rig = guest_rig.new(study, tmp_path / "rig")
    guest_rig.boot(rig, measure="echo written before >/mnt/content")
    files = guest_rig.boot(rig, beside={"cell": AGAIN}).files
    assert files["content.txt"] == b"written before\n"
    assert "measure.txt" not in files
