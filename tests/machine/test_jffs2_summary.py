# SPDX-License-Identifier: Apache-2.0
"""JFFS2 as a kernel has it that leaves CONFIG_JFFS2_SUMMARY off, and as one that turns it on: the first reads all that
is stored to mount it, the second the summaries of the blocks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.guest_output import medium_counters
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

BOARD = "arm64-1000:ram=512M"
"""A kernel that looks for its own bugs needs more memory than the board has."""

PART_BYTES, FILE_BYTES = 8 << 20, 6 << 20

FILL = f"""
head -c {FILE_BYTES} /dev/urandom >/mnt/file
md5sum </mnt/file >/out/before
"""

MOUNT = """
umount /mnt
echo 3 >/proc/sys/vm/drop_caches
medium mark down
sh /job/mount
medium mark mounted
md5sum </mnt/file >/out/after
dmesg | grep "jffs2: version" >/out/version
"""


OTHERS = [pytest.param(name, marks=pytest.mark.long) for name in ("6.12", "6.1-debug")]


@pytest.mark.parametrize("kernel", ["6.1", *OTHERS])
def test_a_mount_reads_all_or_the_summaries(study_file: StudyWriter, tmp_path: Path, kernel: str) -> None:
    read = {}
    for name in ("jffs2", "jffs2:summary"):
        medium = f"slc-nand-256m:factory_bad_blocks=0,used_bytes={PART_BYTES}"
        study = study_file(guest_rig.STUDY, filesystem=name, medium=medium, board=BOARD, kernel=kernel)
        rig = guest_rig.new(study, tmp_path / name.replace(":", "-"))
        outcome = guest_rig.boot(rig, prepare=FILL, measure=MOUNT)
        assert outcome.files["before"] == outcome.files["after"]
        assert (b"(SUMMARY)" in outcome.files["version"]) == (name == "jffs2:summary")
        down, mounted = (medium_counters.parse(outcome.files[f"counters.{moment}"]) for moment in ("down", "mounted"))
        read[name] = mounted["flash_read_pages"] - down["flash_read_pages"]
    stored = FILE_BYTES / rig.cell.medium.numbers()["page_bytes"]
    print(f"{kernel}: {read} of {stored:.0f} pages")
    assert read["jffs2"] > stored
    assert read["jffs2:summary"] < stored / 4
