# SPDX-License-Identifier: Apache-2.0
"""Mount time, memory and space from a guest's notes, worked out by hand."""

from __future__ import annotations

import pytest

from flashbed.guest_output.filesystem_costs import (
    CUT_BEGUN,
    CUT_DONE,
    EMPTY,
    MEMORY_DOWN,
    MEMORY_UP,
    MOUNT_BEGUN,
    MOUNT_DONE,
    SPACE,
    upkeep_metrics,
)

MEDIUM_BYTES = 64 << 20

DF = """Filesystem           1024-blocks    Used Available Capacity Mounted on
/dev/mftl0               60000 {used} {free}   4% /mnt
"""

FILES = """/mnt:
total 4108
-rw-r--r--    1 0        0          1000000 Jan  1 00:00 filler
drwx------    2 0        0            12288 Jan  1 00:00 lost+found
-rw-r--r--    1 0        0          3000000 Jan  1 00:00 test.0

/mnt/lost+found:
total 0
"""


def memory(free: int, cached: int, reclaimable: int, kept: int) -> bytes:
    kib = {"MemTotal": 50_000, "MemFree": free, "MemAvailable": 1, "Buffers": 10, "Cached": cached}
    lines = [f"{name}:    {n} kB\n" for name, n in {**kib, "SReclaimable": reclaimable}.items()]
    return "".join([*lines, f"              count: {kept}\n", "              count: 0\n"]).encode()


OUT = {
    MOUNT_BEGUN: b"now at 1500000000 nsecs\n",
    MOUNT_DONE: b"now at 1750000000 nsecs\n",
    MEMORY_DOWN: memory(40_000, 100, 50, 5),
    MEMORY_UP: memory(39_000, 300, 150, 30),
    EMPTY: DF.format(used=100, free=32768).encode(),
    SPACE: DF.format(used=100 + 7812, free=20000).encode() + FILES.encode(),
}


def test_what_a_mount_costs() -> None:
    metrics = upkeep_metrics(OUT, MEDIUM_BYTES)
    assert metrics["mount_s"] == 0.25
    assert "mount_after_cut_s" not in metrics
    assert (
        metrics["mount_memory_bytes"] == 600 * 1024
    )  # 1,000 KiB less are free, of which caches have 300 and a CPU 100
    assert metrics["space_free_percent"] == 50.0
    assert metrics["space_per_byte"] == pytest.approx(7812 * 1024 / 4_000_000)


def test_the_mount_after_a_cut_is_told_where_there_was_one() -> None:
    cut = {CUT_BEGUN: b"now at 2000000000 nsecs\n", CUT_DONE: b"now at 2125000000 nsecs\n"}
    assert upkeep_metrics(OUT | cut, MEDIUM_BYTES)["mount_after_cut_s"] == 0.125


def test_without_files_there_is_no_room_taken_by_them() -> None:
    assert "space_per_byte" not in upkeep_metrics(OUT | {SPACE: OUT[EMPTY]}, MEDIUM_BYTES)


@pytest.mark.parametrize("name", [MOUNT_BEGUN, EMPTY])
def test_what_is_not_there_is_told(name: str) -> None:
    with pytest.raises(ValueError, match=r"no time|said nothing"):
        upkeep_metrics(OUT | {name: b""}, MEDIUM_BYTES)
