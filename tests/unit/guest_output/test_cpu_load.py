# SPDX-License-Identifier: Apache-2.0
"""CPU load from idle times, worked out by hand."""

from __future__ import annotations

import pytest

from flashbed.guest_output import cpu_load


def noted(now: int, idle: int, iowait: int) -> bytes:
    return f"now at {now} nsecs\n  .idle_sleeptime : {idle} nsecs\n  .iowait_sleeptime: {iowait} nsecs\n".encode()


def test_what_is_not_idle_is_load() -> None:
    out = {cpu_load.IDLE_BEFORE: noted(1_000, 100, 50), cpu_load.IDLE_MEASURED: noted(2_000, 400, 500)}
    assert cpu_load.percent(out) == pytest.approx(25.0)


def of_several(now: int, *asleep: tuple[int, int]) -> bytes:
    """Return text as in /proc/timer_list: a pair of times for each CPU."""
    pairs = "".join(f"  .idle_sleeptime : {i} nsecs\n  .iowait_sleeptime: {w} nsecs\n" for i, w in asleep)
    return f"now at {now} nsecs\n{pairs}".encode()


def test_several_cpus_have_a_mean_and_a_busiest() -> None:
    """Of 1000 ns, the first CPU is idle for 100, the second for all, the third for 300, the fourth for 600."""
    out = {
        cpu_load.IDLE_BEFORE: of_several(5_000, (7, 0), (0, 0), (50, 50), (1, 1)),
        cpu_load.IDLE_MEASURED: of_several(6_000, (107, 0), (1_000, 0), (150, 250), (501, 101)),
    }
    assert cpu_load.each_busy_ns(out) == [900, 0, 700, 400]
    assert cpu_load.percent(out) == pytest.approx(50.0)
    assert cpu_load.several(out) == {"busiest_cpu_percent": pytest.approx(90.0)}


def test_no_cpu_is_busy_for_less_than_nothing() -> None:
    """The second CPU's sleep began 200 ns before the window, after the guest had woken it."""
    out = {
        cpu_load.IDLE_BEFORE: of_several(5_000, (0, 0), (0, 0)),
        cpu_load.IDLE_MEASURED: of_several(6_000, (400, 0), (1_200, 0)),
    }
    assert cpu_load.each_busy_ns(out) == [600, 0]
    assert cpu_load.percent(out) == pytest.approx(30.0)


def test_one_cpu_is_told_once() -> None:
    out = {cpu_load.IDLE_BEFORE: noted(1_000, 100, 50), cpu_load.IDLE_MEASURED: noted(2_000, 400, 500)}
    assert cpu_load.several(out) == {}


def test_a_cpu_that_comes_or_goes_is_no_load() -> None:
    out = {cpu_load.IDLE_BEFORE: of_several(1, (1, 1)), cpu_load.IDLE_MEASURED: of_several(2, (1, 1), (1, 1))}
    with pytest.raises(ValueError, match="number of CPUs"):
        cpu_load.percent(out)


def test_without_times_there_is_no_load() -> None:
    with pytest.raises(ValueError, match="idle times"):
        cpu_load.percent({cpu_load.IDLE_BEFORE: b"", cpu_load.IDLE_MEASURED: b""})
