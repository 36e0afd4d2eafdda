# SPDX-License-Identifier: Apache-2.0
"""What JFFS2 reads beside what is asked of it, as docs/raw-nand.md explains it: all data once after a mount, the header
of each node when a file is opened, and then little more than the file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.guest_output import medium_counters
from tests.machine.raw_chip import boot
from tests.support.fixture_types import NewChip

PAGE = 512
DATA = (1 << 20) // PAGE

# Random bytes, which do not compress
PREPARE = "head -c 1048576 /dev/urandom | dd of=/mnt/file bs=4k\nsync\n"

MEASURE = """
sleep {wait}
medium mark mounted
exec 3</mnt/file
medium mark opened
cat <&3 >/dev/null
medium mark read
"""


@pytest.mark.long
def test_the_check_after_a_mount_reads_the_data_once_more(new_chip: NewChip, tmp_path: Path) -> None:
    opened, read = {}, {}
    for wait in (0, 8):
        chip = new_chip("slc-nand-64m:factory_bad_blocks=0", tmp_path / f"wait-{wait}")
        outcome = boot(chip, prepare=PREPARE, measure=MEASURE.format(wait=wait))
        counters = [medium_counters.parse(outcome.files[f"counters.{name}"]) for name in ("mounted", "opened", "read")]
        marks = [mark["flash_read_pages"] for mark in counters]
        opened[wait], read[wait] = marks[1] - marks[0], marks[2] - marks[1]
    # 256 pages of 4 KiB, of which each third or fourth is cut in two by the end of a block of 16 KiB: some 340 nodes.
    # Once the check is through, an open reads each header: a page each, two where it lies across an edge
    assert 256 < opened[8] < 2 * 340
    # At once, whoever opens the file waits for the check: all data more, but for what the first pages of nodes had
    assert 0.7 * DATA < opened[0] - opened[8] < 1.3 * DATA
    # Reading itself is the same, and takes the headers of 68 bytes along: 2 %, no check
    assert read[0] == read[8]
    assert DATA < read[8] < 1.1 * DATA
