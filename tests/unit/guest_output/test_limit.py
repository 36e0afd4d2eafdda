# SPDX-License-Identifier: Apache-2.0
"""What limits a measurement. The shares of time are worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from flashbed.guest_output import limit

MS = 1_000_000


def rig(pio_sector_ns: int = 0, nand_cycle_ps: int = 0, **medium: int) -> limit.Rig:
    return limit.Rig(medium, pio_sector_ns, nand_cycle_ps)


def shares(of: limit.Rig, counters: dict[str, int], moved_bytes: float) -> tuple[float, float]:
    percents = limit.percents(of, counters, moved_bytes, limit.Time(150 * MS, 0, 100 * MS, 0.0))
    return percents["busy_medium_percent"], percents["busy_bus_percent"]


def test_of_requests_one_after_the_other_what_is_not_transfer_is_the_medium() -> None:
    # of 80 ms in flight 30 are transfer; two dies, one of which works at a time: 50 ms in all
    counters = {"busy_ns": 80 * MS, "link_ns": 30 * MS, "flash_read_ns": 50 * MS}
    assert shares(rig(dies=2), counters, 1e6) == (50, 30)


def test_where_transfer_and_array_overlap_the_array_counts_in_full() -> None:
    counters = {"busy_ns": 90 * MS, "link_ns": 60 * MS, "flash_read_ns": 100 * MS, "flash_program_ns": 70 * MS}
    assert shares(rig(dies=2), counters, 1e6) == (85, 60)
    # the array works at most while requests are in flight; the rest is work in the background
    assert shares(rig(dies=1), counters, 1e6) == (90, 60)


def test_with_pio_the_bus_is_the_cpus_work() -> None:
    # 1,000 sectors of 20 us: 20 ms, outside the medium's 40
    assert shares(rig(pio_sector_ns=20_000), {"busy_ns": 40 * MS, "link_ns": 0}, 512_000) == (40, 20)


def test_a_raw_chip_has_its_array_and_its_bus() -> None:
    chip = {"page_bytes": 512, "spare_bytes": 16, "bus_ps_per_byte": 50_000}
    counters = {"flash_read_ns": 15 * MS, "flash_program_ns": 20 * MS, "flash_erase_ns": 2 * MS}
    # 100 pages of 528 bytes: 2.64 ms at 50 ns a byte, 3.3 ms where the controller takes 62.5 ns
    assert shares(rig(**chip), counters, 51_200) == pytest.approx((37, 2.64))
    assert shares(rig(pio_sector_ns=61_440, nand_cycle_ps=62_500, **chip), counters, 51_200) == pytest.approx((37, 3.3))


def test_what_a_raw_chip_did_beyond_the_run_is_a_share_of_the_whole_measurement() -> None:
    """30 ms of the array and 79.2 ms of the bus do not fit one after the other into a run of 100 ms: they are 20 % and
    52.8 % of the measurement's 150 ms. 66 ms on the bus, or any work of a block device, may all be in the run.
    """
    chip = {"page_bytes": 512, "spare_bytes": 16, "bus_ps_per_byte": 50_000}
    counters = {"flash_read_ns": 30 * MS}
    assert shares(rig(**chip), counters, 3_000 * 512) == pytest.approx((20, 52.8))
    assert shares(rig(**chip), counters, 2_500 * 512) == pytest.approx((30, 66))
    block = {"busy_ns": 100 * MS, "link_ns": 60 * MS, "flash_read_ns": 100 * MS}
    assert shares(rig(), block, 1e6) == (100, 60)


@pytest.mark.parametrize(
    ("run_ms", "cpu_ms", "processes", "percent"),
    [
        (100, 30, 20.0, 30),  # nothing outside the run
        (40, 80, 20.0, 50),  # of 80 ms, 60 may have been outside the run; 20 cannot
        (40, 50, 97.0, 97),  # all may have been outside the run, but the processes took more
        (40, 200, 0.0, 100),
    ],
)
def test_the_cpu_was_busy_for_at_least_so_long(run_ms: int, cpu_ms: int, processes: float, percent: float) -> None:
    assert limit.Time(100 * MS, cpu_ms * MS, run_ms * MS, processes).cpu_percent() == percent


@pytest.mark.parametrize(
    ("cpu", "medium", "bus", "pio", "expected"),
    [
        (20, 70, 10, False, "medium"),
        (25, 30, 45, False, "bus"),
        (60, 30, 10, False, "cpu"),
        (60, 95, 10, False, "medium"),  # overlap: a request is always in flight, and the CPU has time left
        (87, 100, 40, False, "cpu"),  # the load waits for the medium, but not for long
        (95, 5, 70, True, "bus"),  # 70 of the CPU's time moves data
        (95, 5, 10, True, "cpu"),
        (10, 20, 5, False, "load"),
    ],
)
def test_the_limit(cpu: float, medium: float, bus: float, pio: bool, expected: str) -> None:
    metrics = {"busy_cpu_percent": cpu, "busy_medium_percent": medium, "busy_bus_percent": bus}
    assert limit.limit(metrics, "write", pio=pio) == expected


def test_a_cpu_that_polls_waits_for_the_chip() -> None:
    metrics = {"busy_cpu_percent": 100.0, "busy_medium_percent": 70.0, "busy_bus_percent": 10.0}
    assert limit.limit(metrics, "write", pio=True) == "cpu"
    assert limit.limit(metrics, "write", pio=True, polls=True) == "medium"  # 100 - 70 - 10 is the CPU's own work
    busy = metrics | {"busy_medium_percent": 5.0}
    assert limit.limit(busy, "write", pio=True, polls=True) == "cpu"


def test_what_stays_in_memory_measures_memory() -> None:
    metrics = {"busy_cpu_percent": 100.0, "busy_medium_percent": 1.0, "busy_bus_percent": 0.0}
    metrics |= {"requested_bytes": 1000.0, "medium_read_bytes": 2000.0, "medium_written_bytes": 499.0}
    assert limit.limit(metrics, "write", pio=False) == "memory"
    assert limit.limit(metrics, "read", pio=False) == "cpu"
    assert limit.limit(metrics, "either", pio=False) == "cpu"


def test_bytes_tell_of_memory_where_no_busy_time_is_known() -> None:
    metrics = {"requested_bytes": 100.0, "medium_read_bytes": 49.0, "medium_written_bytes": 500.0}
    assert limit.limit(metrics, "read", pio=False) == "memory"
    assert limit.limit(metrics, "write", pio=False) == ""


@pytest.mark.parametrize(
    ("parameters", "latency_us", "expected"),
    [
        ({"pattern": "write", "flush": "fsync"}, 5.69, True),
        ({"pattern": "randwrite", "flush": "fsync", "direct": False}, 5.69, True),
        # Memory was full for most of the run, so calls waited for the medium
        ({"pattern": "write", "flush": "fsync"}, 20.0, False),
        ({"pattern": "write", "flush": "fsync", "processes": 4}, 50.0, True),
        ({"pattern": "write", "flush": "fsync-each"}, 5.69, False),
        ({"pattern": "write", "flush": "fsync", "direct": True}, 5.69, False),
        ({"pattern": "read", "flush": "fsync"}, 5.69, False),
        ({}, 5.69, False),
    ],
)
def test_writes_that_end_in_memory_wait_for_it(parameters: dict[str, Any], latency_us: float, expected: bool) -> None:
    """One process writes 36,571 requests a second in 5.69 us each: a fifth of its run. The rest is a flush."""
    assert limit.waits_for_memory(parameters, {"iops": 36571.0, "latency_mean_us": latency_us}) == expected


def test_what_comes_between_phases_does_not_hide_that_memory_kept_their_bytes() -> None:
    """A mount between writing and reading read 4.4 MiB of a raw chip, more than twice what both phases requested."""
    metrics = {"busy_cpu_percent": 20.0, "busy_medium_percent": 100.0, "busy_bus_percent": 0.0}
    metrics |= {"requested_bytes": 2.0**21, "medium_read_bytes": 4.4 * 2**20, "medium_written_bytes": 34816.0}
    assert limit.limit(metrics, "either", pio=False) == "medium"
    assert limit.limit({**metrics, "reached_percent": 6.6}, "either", pio=False) == "memory"
    assert limit.limit({**metrics, "reached_percent": 50.0}, "either", pio=False) == "medium"


def test_a_link_that_is_full_is_the_limit() -> None:
    busy = {"busy_cpu_percent": 54.0, "busy_medium_percent": 57.0, "busy_bus_percent": 1.0}
    assert limit.limit({**busy, "busy_link_percent": 99.0}, "either", pio=False) == "link"
    assert limit.limit({**busy, "busy_link_percent": 56.0}, "either", pio=False) == "medium"
    idle = {"busy_cpu_percent": 20.0, "busy_medium_percent": 1.0, "busy_bus_percent": 1.0}
    assert limit.limit({**idle, "busy_link_percent": 27.0}, "either", pio=False) == "load"  # 49 of 100
    assert limit.limit({**idle, "busy_link_percent": 28.0}, "either", pio=False) == "link"


def test_old_results_tell_no_limit() -> None:
    assert limit.limit({"busy_cpu_percent": 99.0}, "write", pio=False) == ""


@pytest.mark.parametrize(
    ("pattern", "expected"), [("randread", "read"), ("write", "write"), ("randrw", "either"), (None, "either")]
)
def test_the_direction_follows_from_the_pattern(pattern: str | None, expected: str) -> None:
    assert limit.direction_of({"pattern": pattern} if pattern else {}) == expected


def test_a_drive_may_take_more_than_its_platters_write() -> None:
    # 10 MB in 91 ms of the run (time outside it does not count); the arm works 13 + 15 + 94 ms until all is written
    time = limit.Time(150 * MS, 0, 91 * MS, 0.0)
    counters = {"host_written_bytes": 10 << 20, "disk_seek_ns": 13 * MS, "disk_rotation_ns": 15 * MS}
    counters |= {"disk_transfer_ns": 94 * MS}
    assert limit.platters(counters, time) == {"platters_percent": pytest.approx(100 * 122 / 91)}
    assert limit.platters(counters | {"host_written_bytes": 0}, time) == {}
    assert limit.platters({"host_written_bytes": 512, "flash_program_ns": 5 * MS}, time) == {}
