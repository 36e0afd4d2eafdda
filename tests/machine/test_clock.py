# SPDX-License-Identifier: Apache-2.0
"""The guest's clock runs from the machine's time on, and file systems write what a running clock makes them write."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from guest_rig import STUDY, boot, new

PAUSE_S = 3
"""Longer than the 2 s in which FAT counts times of change."""

# The second write changes data that are there already: what it costs beyond them is the time of the change.
SCRIPT = f"""
cd /mnt
note() {{ echo "$1 $2" >>/out/seen; }}
written() {{ [ ! -e $MEDIUM/medium/host_written_bytes ] || cat $MEDIUM/medium/host_written_bytes; }}
. /job/cell.env
note began $(date +%s)
dd if=/dev/zero of=file bs=4k count=1 conv=fsync
note created $(stat -c %Y file)
sleep {PAUSE_S}
note bytes_before $(written)
dd if=/dev/zero of=file bs=4k count=1 conv=notrunc,fsync
note bytes_after $(written)
note now $(date +%s)
note changed $(stat -c %Y file)
cd /
umount /mnt && sh -e /job/detach
sh -e /job/attach && sh /job/mount
note remembered $(stat -c %Y /mnt/file)
"""

BOOT_S = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
"""-rtc base= of the machine."""

ON_BLOCKS = ("fat16:cluster=32k", "ext2", "ext4", "f2fs", "nilfs2")
ON_RAW_FLASH = ("jffs2", "ubifs", "yaffs2")


def seen(study_file, folder: Path, filesystem: str, medium: str) -> dict[str, int]:
    study = study_file(STUDY, filesystem=filesystem, medium=medium)
    lines = boot(new(study, folder), measure=SCRIPT).files["seen"].decode().splitlines()
    return {name: int(value) for name, _, value in (line.partition(" ") for line in lines) if value}


def times_run(found: dict[str, int]) -> None:
    """The clock began at the machine's time, ran, and a file keeps when it was changed."""
    assert BOOT_S <= found["began"] < BOOT_S + 120
    assert found["created"] - found["began"] in (-1, 0, 1)  # FAT counts in steps of two seconds
    assert found["now"] >= found["began"] + PAUSE_S
    assert found["changed"] - found["created"] >= PAUSE_S - 1
    assert found["remembered"] == found["changed"]


@pytest.mark.parametrize("filesystem", ON_BLOCKS)
def test_a_synced_change_brings_its_time_to_the_medium(filesystem: str, study_file, tmp_path: Path) -> None:
    """The data are 4 KiB; the inode or the directory entry that holds the time is a sector more, at least."""
    found = seen(study_file, tmp_path, filesystem, "usb-stick-2g")
    times_run(found)
    assert found["bytes_after"] - found["bytes_before"] >= 4096 + 512


@pytest.mark.parametrize("filesystem", ON_RAW_FLASH)
def test_times_are_kept_on_raw_flash(filesystem: str, study_file, tmp_path: Path) -> None:
    times_run(seen(study_file, tmp_path, filesystem, "slc-nand-64m:factory_bad_blocks=0"))
