# SPDX-License-Identifier: Apache-2.0
"""Write amplification, worked out by hand: of a device, and of a chip below a translation or a file system."""

from __future__ import annotations

import pytest

from flashbed.guest_output import medium_counters

PAGE_BYTES = 512
CHIP = {"flash_read_pages": 3, "flash_programmed_pages": 40, "spare_read_pages": 0, "spare_programmed_pages": 0}
DEVICE = CHIP | {"host_read_bytes": 4096, "host_written_bytes": 10240}


def phases(counted: medium_counters.Counters) -> dict[str, medium_counters.Counters]:
    return {"measured": counted, "synced": counted, "life": counted}


def test_a_device_knows_what_the_host_wrote() -> None:
    metrics = medium_counters.metrics(phases(DEVICE), PAGE_BYTES, 99, 5120)
    assert (metrics["medium_read_bytes"], metrics["medium_written_bytes"]) == (4096, 10240)
    assert metrics["write_amplification"] == 2
    assert metrics["total_write_amplification"] == 4


def test_requests_of_the_mount_are_counted_apart() -> None:
    notes = {
        medium_counters.UNMOUNTED: (7, 1),
        medium_counters.BEFORE: (10, 2),
        medium_counters.MEASURED: (11, 2),
        medium_counters.SYNCED: (11, 4),
        medium_counters.FINISHED: (11, 5),
    }
    out = {
        name: f"/m/host_reads:{r}\n/m/host_writes:{w}\n/m/host_read_bytes:0\n/m/host_written_bytes:0\n".encode()
        for name, (r, w) in notes.items()
    }
    metrics = medium_counters.metrics(medium_counters.phases(out), None, None, 0)
    assert (metrics["medium_requests"], metrics["medium_requests_with_mount"]) == (3, 7)
    del out[medium_counters.UNMOUNTED]
    assert "medium_requests_with_mount" not in medium_counters.metrics(medium_counters.phases(out), None, None, 0)


def test_for_a_translated_chip_the_block_device_counts_the_written_bytes() -> None:
    stat = "  5 0 40 1 {} 0 {} 1 0 1 1\n"
    out = {medium_counters.BLOCK_BEFORE: stat.format(8, 100).encode()}
    out[medium_counters.BLOCK_SYNCED] = stat.format(9, 110).encode()
    assert medium_counters.translated_bytes(out) == 5120
    metrics = medium_counters.metrics(phases(CHIP), PAGE_BYTES, 5120, 4096)
    assert (metrics["medium_read_bytes"], metrics["medium_written_bytes"]) == (3 * 512, 40 * 512)
    assert metrics["write_amplification"] == 4
    assert metrics["total_write_amplification"] == 5


def test_programs_of_the_spare_area_alone_move_no_data() -> None:
    """YAFFS1 rewrites a file of 8 pages: 8 programs of data, and 8 deletion marks on the old pages, whose tags it
    reads. Three more pages are read for their data.
    """
    counted = {"flash_read_pages": 11, "spare_read_pages": 8}
    counted |= {"flash_programmed_pages": 16, "spare_programmed_pages": 8}
    assert medium_counters.moved_bytes(counted, PAGE_BYTES) == (3 * 512, 8 * 512)
    metrics = medium_counters.metrics(phases(counted), PAGE_BYTES, None, 4096)
    assert metrics["medium_written_bytes"] == 8 * 512
    # A mark wears the flash like any other program
    assert metrics["total_write_amplification"] == 2


@pytest.mark.parametrize("written", [0, 4096])
def test_a_chip_alone_has_the_total_only(written: int) -> None:
    assert medium_counters.translated_bytes({}) is None
    metrics = medium_counters.metrics(phases(CHIP), PAGE_BYTES, None, written)
    assert "write_amplification" not in metrics
    assert metrics.get("total_write_amplification") == (5 if written else None)


def test_a_medium_without_pages_has_no_write_amplification() -> None:
    device = {"host_read_bytes": 1, "host_written_bytes": 2}
    metrics = medium_counters.metrics(phases(device), None, 5, 5)
    assert set(metrics) == {"medium_read_bytes", "medium_written_bytes"}


def test_what_was_discarded_before_the_measurement() -> None:
    def counted(discarded: int) -> bytes:
        return f"/sys/block/mblk0/medium/host_discarded_bytes:{discarded}\n".encode()

    out = {"counters.begun": counted(5), "counters.before": counted(1029)}
    assert medium_counters.discarded(out) == {"discarded_before_bytes": 1024.0}
    assert medium_counters.discarded({"counters.before": counted(7)}) == {}  # an older result
    chip = b"flash_read_pages:1\n"
    assert medium_counters.discarded({"counters.begun": chip, "counters.before": chip}) == {}
