# SPDX-License-Identifier: Apache-2.0
"""What the guest is told of the board: the port of block media and the NAND controller, each in the words of its
driver.
"""

from __future__ import annotations

import re
import shlex

import pytest

from flashbed.machine import guest_job
from flashbed.study.loading import load_study
from flashbed.study.plan import plan

WORKLOAD = 'workload = { tool = "fio", pattern = "write", request = "4k", file = "64k" }\n'

DMA, PIO = "arm64-1000", "arm64-250-pio:pio_sector_ns=12345,nand_cycle_ps=40000"


@pytest.mark.parametrize(
    ("board", "medium", "filesystem", "expected"),
    [
        (DMA, "null-2g", "ext2", "pio_sector_ns=0"),
        (PIO, "null-2g", "ext2", "pio_sector_ns=12345"),
        (DMA, "slc-nand-64m", "jffs2", "dma=1"),
        (f"{DMA}:nand_cycle_ps=40000", "slc-nand-64m", "jffs2", "cycle_ps=40000 dma=1"),
        (f"{DMA}:nand_unit=page", "slc-nand-64m", "jffs2", "dma=1 whole_pages=1"),
        (f"{DMA}:nand_wait=poll", "slc-nand-64m", "jffs2", "dma=1 poll=1"),
        (PIO, "slc-nand-64m", "jffs2", "cycle_ps=40000"),
        ("arm64-250-pio:nand_cycle_ps=0", "slc-nand-64m", "jffs2", ""),
    ],
)
def test_each_medium_is_told_its_own_bus(study_file, board: str, medium: str, filesystem: str, expected: str) -> None:
    study = load_study(study_file(WORKLOAD, board=board, medium=medium, filesystem=filesystem))
    (cell,) = plan(study)
    environment = guest_job.files(cell, "0")["cell.env"].decode()
    ((options,),) = map(shlex.split, re.findall(r"^MEDIUM_OPTIONS=(.*)$", environment, re.MULTILINE))
    assert options.removeprefix("state=2 data=3 digest=0x0").strip() == expected


def test_the_option_of_a_file_system_can_choose_its_module(study_file) -> None:
    for filesystem, module in (("jffs2", "jffs2"), ("jffs2:summary", "jffs2_summary")):
        (cell,) = plan(load_study(study_file(WORKLOAD, medium="slc-nand-64m", filesystem=filesystem)))
        assert guest_job.files(cell, "0")["format"].decode().startswith(f"insmod /lib/flashbed/{module}.ko\n")
