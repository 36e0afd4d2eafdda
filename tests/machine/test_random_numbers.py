# SPDX-License-Identifier: Apache-2.0
"""The kernel's random numbers are seeded when the guest starts, as by a board's own generator. Unseeded, each number
costs some 9,000 instructions under one lock, and of file systems that draw one a file none creates more than that lock
lets through.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

NOTE = """
    dmesg | grep -o "random: crng init done" >/out/seeded
    head -c 32 /dev/urandom >/out/drawn
"""


def _files(study_file: StudyWriter, folder: Path, seed: int) -> Mapping[str, bytes]:
    study = study_file(guest_rig.STUDY, filesystem="ext2", medium="null-2g", seeds=[seed])
    return guest_rig.boot(guest_rig.new(study, folder), measure=NOTE).files


def test_random_numbers_are_seeded_by_the_seed(study_file: StudyWriter, tmp_path: Path) -> None:
    """Two guests of one seed draw the same, one of another seed does not."""
    first, again, other = (_files(study_file, tmp_path / str(i), seed) for i, seed in enumerate((1, 1, 2)))
    assert first["seeded"] == b"random: crng init done\n"
    assert len(first["drawn"]) == 32
    assert first["drawn"] == again["drawn"] != other["drawn"]
