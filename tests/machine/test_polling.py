# SPDX-License-Identifier: Apache-2.0
"""A board whose driver polls R/B# is busy while its raw chip is, and takes as long."""

from __future__ import annotations

from pathlib import Path

from flashbed.guest_output import cpu_load
from tests.support.fixture_types import NewChip
from tests.support.guest_rig import NO_MOUNT, boot

BLOCKS = 100

ERASE = f"""
cd /out
note() {{ grep -E "now at|_sleeptime" /proc/timer_list; }}
note >began
/usr/sbin/flash_erase -q /dev/mtd0 0 {BLOCKS}
note >ended
"""


def test_a_cpu_that_polls_is_busy_while_the_chip_is(new_chip: NewChip, tmp_path: Path) -> None:
    chip = "slc-nand-64m:factory_bad_blocks=0"
    took, busy = {}, {}
    for wait in ("interrupt", "poll"):
        rig = new_chip(chip, tmp_path / wait, board=f"arm64-1000:nand_wait={wait}")
        files = boot(rig, format=ERASE, mount=NO_MOUNT).files
        files = {cpu_load.IDLE_BEFORE: files["began"], cpu_load.IDLE_MEASURED: files["ended"]}  # the cell has its own
        began, ended = cpu_load.window_ns(files)
        took[wait], busy[wait] = ended - began, cpu_load.percent(files)
    print(f"{took} ns, {busy} % busy")
    chip_ns = BLOCKS * rig.cell.medium.numbers()["erase_ns"]
    assert chip_ns < took["interrupt"]
    asleep = 100.0 * chip_ns / took["interrupt"]  # the chip's own time, of what its start and the kernel take beside
    assert busy["interrupt"] < 100.0 - 0.95 * asleep
    assert busy["poll"] == 100.0
    assert abs(took["poll"] - took["interrupt"]) < 0.01 * took["interrupt"]
