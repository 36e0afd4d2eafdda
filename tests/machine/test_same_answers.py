# SPDX-License-Identifier: Apache-2.0
"""The emulator's medium and the host's program are one model: the requests of a guest, replayed on the host from the
same state, are done at the same nanosecond each, and leave the same state behind.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.profiles.library import Library
from tests.machine.same_answers import check, random_job
from tests.support.fixture_types import StudyWriter

SHIPPED = Library((paths.profiles(),))
MEDIA = [name for name in SHIPPED.names("medium") if SHIPPED.medium(name).provides == "block"]


def study_of(study_file: StudyWriter, folder: Path, medium: str, seed: int, board: str) -> Path:
    profile = SHIPPED.medium(medium)
    discards = profile.kind == "flash" and profile.numbers().get("discard", 1) == 1
    (folder / "random.fio").write_text(random_job(seed, profile.size_bytes, discards))
    study = 'workload = { tool = "fio", job = "random.fio" }\n'
    # With few inodes, or the largest media get gigabytes of zeros, which are requests of one kind
    filesystem = "ext2:inode_ratio=64M"
    return Path(study_file(study, filesystem=filesystem, medium=medium, board=board, seeds=[seed]))


@pytest.mark.parametrize("medium", MEDIA)
def test_host_and_guest_agree(medium: str, study_file: StudyWriter, tmp_path: Path) -> None:
    check(study_of(study_file, tmp_path, medium, 1, "arm64-1000"), tmp_path)


def test_they_agree_when_the_cpu_moves_the_data(study_file: StudyWriter, tmp_path: Path) -> None:
    check(study_of(study_file, tmp_path, "hdd-25-5400-ide-4g", 2, "arm64-250-pio"), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("seed", range(10, 20))
def test_host_and_guest_agree_for_many_seeds(medium: str, seed: int, study_file: StudyWriter, tmp_path: Path) -> None:
    check(study_of(study_file, tmp_path, medium, seed, "arm64-1000"), tmp_path)
