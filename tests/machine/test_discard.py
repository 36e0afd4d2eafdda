# SPDX-License-Identifier: Apache-2.0
"""Only media that take discards are told what is free, by mkfs and by file systems alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.guest_output import medium_counters
from tests.support.fixture_types import StudyWriter
from tests.support.guest_rig import STUDY, boot, new

SCRIPT = """
medium mark by_mkfs
dd if=/dev/zero of=/mnt/file bs=1M count=16 conv=fsync
rm /mnt/file
sync
medium mark with_a_removed_file
"""


def discarded_bytes(study_file: StudyWriter, folder: Path, filesystem: str, medium: str) -> tuple[int, int]:
    """Return the bytes discarded by mkfs, and by the removal of a file of 16 MiB."""
    out = boot(new(study_file(STUDY, filesystem=filesystem, medium=medium), folder), measure=SCRIPT).files
    moments = ("by_mkfs", "with_a_removed_file")
    by_mkfs, after = (medium_counters.parse(out[f"counters.{name}"])["host_discarded_bytes"] for name in moments)
    return by_mkfs, after - by_mkfs


@pytest.mark.parametrize("filesystem", ["ext2", "ext4:discard", "f2fs", "fat16:cluster=32k,discard"])
def test_a_stick_is_never_told_what_is_free(filesystem: str, study_file: StudyWriter, tmp_path: Path) -> None:
    assert discarded_bytes(study_file, tmp_path, filesystem, "usb-stick-2g:condition=full") == (0, 0)


@pytest.mark.parametrize(
    ("filesystem", "by_mkfs", "by_removal"),
    [("ext4", True, False), ("ext4:discard", True, True), ("fat16:cluster=32k,discard", False, True)],
)
def test_an_emmc_is_told_by_those_who_tell(
    filesystem: str, by_mkfs: bool, by_removal: bool, study_file: StudyWriter, tmp_path: Path
) -> None:
    """mke2fs discards all of the medium, mkfs.fat nothing; file systems only if mounted so."""
    mkfs, removal = discarded_bytes(study_file, tmp_path, filesystem, "emmc-64g:used_bytes=1G")
    assert (mkfs >= 1 << 30) is by_mkfs
    assert (removal >= 16 << 20) is by_removal


@pytest.mark.parametrize(("condition", "by_mkfs"), [("worn", True), ("used", False)])
def test_a_device_that_was_used_stays_so_after_mkfs(
    condition: str, by_mkfs: bool, study_file: StudyWriter, tmp_path: Path
) -> None:
    """Only mkfs lacks the command: the file system has it again."""
    medium = f"slc-64m-ftl-page:condition={condition}"
    mkfs, removal = discarded_bytes(study_file, tmp_path, "ext4:discard", medium)
    assert (mkfs > 32 << 20) is by_mkfs
    assert by_mkfs or mkfs == 0
    assert removal >= 16 << 20
