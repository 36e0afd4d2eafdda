# SPDX-License-Identifier: Apache-2.0
"""Other commands of a guest to a controller than reads and writes: turn a cache off, turn the controller off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine import raw_chip
from tests.machine.test_power_cut import (
    AFTER_FLUSH_NS,
    BLOCK_BYTES,
    BLOCKS,
    RAW_SYNC,
    boot,
    cut_after,
    lose_power,
    new_medium,
    rounds,
)
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

CACHE_OFF = """
for file in /sys/class/scsi_disk/*/cache_type; do echo "write through" >$file; done
medium mark before
dd if=/dev/zero of=/dev/medium bs=4096 count=20 seek=8192 oflag=direct
medium mark after
"""

CONTROLLER_OFF = """
cp /job/nvme_off /tmp/nvme_off
chmod +x /tmp/nvme_off
/tmp/nvme_off /sys/bus/pci/devices/0000:00:02.0/resource0 >/dev/console
"""


@pytest.mark.parametrize("medium", ["hdd-35-7200-320g:used_bytes=64M", "emmc-64g:interface=usb,used_bytes=64M"])
def test_a_cache_that_is_off_holds_nothing_back(study_file: StudyWriter, tmp_path: Path, medium: str) -> None:
    rig = new_medium(study_file, tmp_path, "ext2", medium)
    outcome = boot(rig, format="true\n", mount=guest_rig.NO_MOUNT, prepare="true\n", measure=CACHE_OFF)
    assert "host_fua_writes:20" in outcome.files["counters.after"].decode().split()


def test_an_sd_card_keeps_what_it_has_acknowledged(study_file: StudyWriter, tmp_path: Path) -> None:
    """A host of SD cards has no word to flush a cache, so whatever the medium could hold back is written through."""
    rig = new_medium(study_file, tmp_path, "ext2", "emmc-64g:interface=sd,used_bytes=2G")
    cut = lose_power(rig, options="digest=0,", prepare="true\n", measure=cut_after(61, AFTER_FLUSH_NS) + RAW_SYNC)
    safe = rounds(cut.outcome.console, "safe")
    with rig.files.data.open("rb") as data:
        data.seek(8192 * BLOCK_BYTES)
        content = data.read(BLOCKS * BLOCK_BYTES)
    assert safe
    for block in safe:
        kept = content[block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES]
        assert kept == f"block {block:3d} {1:5d}\n".encode() * (BLOCK_BYTES // 16), block


def test_an_nvme_controller_is_turned_off_with_requests_under_way(study_file: StudyWriter, tmp_path: Path) -> None:
    rig = new_medium(study_file, tmp_path, "ext2", "nvme-960pro-class:used_bytes=64M")
    program = {"nvme_off": raw_chip.own_program("nvme_off")}
    outcome = guest_rig.outcome_of(
        rig,
        limit_s=60,
        beside=program,
        format="true\n",
        mount=guest_rig.NO_MOUNT,
        prepare="true\n",
        measure=CONTROLLER_OFF,
    )
    assert b"still there" in outcome.console
    assert outcome.status == "measured", outcome.reason
