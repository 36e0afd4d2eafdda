# SPDX-License-Identifier: Apache-2.0
"""Write amplification, worked out by hand: of a device, of a chip below a translation or a file system."""

from __future__ import annotations

import pytest

from flashbed.guest_output import medium_counters

PAGE_BYTES = 512
CHIP = {"flash_read_pages": 3, "flash_programmed_pages": 40, "spare_read_pages": 0, "spare_programmed_pages": 0}
DEVICE = CHIP | {"host_read_bytes": 4096, "host_written_bytes": 10240}


def phases(counted: medium_counters.Counters) -> dict[str, medium_counters.Counters]:
    return {"measured": counted, "synced": counted, "life": counted}


def test_a_device_knows_what_the_host_wrote() -> None:
    found = medium_counters.metrics(phases(DEVICE), PAGE_BYTES, 99, 5120)
    assert (found["medium_read_bytes"], found["medium_written_bytes"]) == (4096, 10240)
    assert found["write_amplification"] == 2
    assert found["total_write_amplification"] == 4


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
    found = medium_counters.metrics(medium_counters.phases(out), None, None, 0)
    assert (found["medium_requests"], found["medium_requests_with_mount"]) == (3, 7)
    del out[medium_counters.UNMOUNTED]
    assert "medium_requests_with_mount" not in medium_counters.metrics(medium_counters.phases(out), None, None, 0)


def test_of_a_chip_the_block_device_of_the_translation_does() -> None:
    stat = "  5 0 40 1 {} 0 {} 1 0 1 1\n"
    out = {medium_counters.BLOCK_BEFORE: stat.format(8, 100).encode()}
    out[medium_counters.BLOCK_SYNCED] = stat.format(9, 110).encode()
    assert medium_counters.translated_bytes(out) == 5120
    found = medium_counters.metrics(phases(CHIP), PAGE_BYTES, 5120, 4096)
    assert (found["medium_read_bytes"], found["medium_written_bytes"]) == (3 * 512, 40 * 512)
    assert found["write_amplification"] == 4
    assert found["total_write_amplification"] == 5


def test_the_spare_area_alone_is_no_data() -> None:
    """A file of 8 pages is written anew, as YAFFS1 does it: 8 programs of data, and on the pages of before 8 marks, for
    which it looks at their tags. Three more pages are read for what is in them.
    """
    counted = {"flash_read_pages": 11, "spare_read_pages": 8}
    counted |= {"flash_programmed_pages": 16, "spare_programmed_pages": 8}
    assert medium_counters.moved_bytes(counted, PAGE_BYTES) == (3 * 512, 8 * 512)
    found = medium_counters.metrics(phases(counted), PAGE_BYTES, None, 4096)
    assert found["medium_written_bytes"] == 8 * 512
    # A mark wears the flash as any program does
    assert found["total_write_amplification"] == 2


@pytest.mark.parametrize("written", [0, 4096])
def test_a_chip_alone_has_the_total_only(written: int) -> None:
    assert medium_counters.translated_bytes({}) is None
    found = medium_counters.metrics(phases(CHIP), PAGE_BYTES, None, written)
    assert "write_amplification" not in found
    assert found.get("total_write_amplification") == (5 if written else None)


def test_what_has_no_pages_amplifies_nothing() -> None:
    device = {"host_read_bytes": 1, "host_written_bytes": 2}
    found = medium_counters.metrics(phases(device), None, 5, 5)
    assert set(found) == {"medium_read_bytes", "medium_written_bytes"}


def test_what_was_discarded_before_the_measurement() -> None:
    def counted(discarded: int) -> bytes:
        return f"/sys/block/mblk0/medium/host_discarded_bytes:{discarded}\n".encode()

    out = {"counters.begun": counted(5), "counters.before": counted(1029)}
    assert medium_counters.discarded(out) == {"discarded_before_bytes": 1024.0}
    assert medium_counters.discarded({"counters.before": counted(7)}) == {}  # of before
    chip = b"flash_read_pages:1\n"
    assert medium_counters.discarded({"counters.begun": chip, "counters.before": chip}) == {}
