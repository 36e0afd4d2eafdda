# SPDX-License-Identifier: Apache-2.0
"""The cost of a flush after each write on the shipped NVMe drives, with and without capacitors."""

from __future__ import annotations

import random

import pytest

from flashbed.common import paths
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from pages.checks import LIBRARY, Bench

PROTECTED, CONSUMER = "nvme-p3600-class", "nvme-960pro-class"
WRITES, PAGE, SPAN = 2000, 4096, 1 << 30


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(hosttools.build(Cache(paths.cache_root() / "image")), tmp_path_factory.mktemp("flushes"))


def time_of_each(bench: Bench, name: str, flushed: bool) -> float:
    """Return the microseconds of a random write of 4 KiB at depth 1 on a new medium, with its flush if `flushed`."""
    chance = random.Random(1)
    bench.start(LIBRARY.medium(name))
    requests = []
    for _ in range(WRITES):
        requests.append(("write", chance.randrange(SPAN // PAGE) * PAGE, PAGE))
        if flushed:
            requests.append(("sync", 0, 0))
    return bench.times(requests, 1)[-1][1] / WRITES / 1000


def test_a_flush_of_a_protected_drive_is_a_command_with_nothing_to_write(bench: Bench) -> None:
    """18.4 us of firmware and 4,096 bytes at 385 ps make the rated 20 us of a write. A flush takes only the firmware's
    time.
    """
    assert time_of_each(bench, PROTECTED, flushed=False) == pytest.approx(18.4 + 4096 * 385e-6, rel=0.001)
    assert time_of_each(bench, PROTECTED, flushed=True) == pytest.approx(18.4 * 2 + 4096 * 385e-6, rel=0.001)


def test_a_consumer_drive_takes_tens_of_times_as_long(bench: Bench) -> None:
    """Published fsyncs, file system's writes included: 3.5 ms (960 PRO) and 1/7300 s (P3700), 26 times."""
    ratio = time_of_each(bench, CONSUMER, flushed=True) / time_of_each(bench, PROTECTED, flushed=True)
    assert 26 / 2 < ratio < 26 * 2


def test_what_a_flush_costs_lies_in_the_capacitors(bench: Bench) -> None:
    """Without capacitors the same drive waits for a program: tPROG of 1.3 ms."""
    capacitors = LIBRARY.medium(PROTECTED)
    bench.start(capacitors, power_loss_protection=0)
    requests = [("write", 0, PAGE), ("sync", 0, 0)]
    assert bench.times(requests, 1)[-1][1] > 1_300_000
    bench.start(capacitors)
    assert bench.times(requests, 1)[-1][1] < 50_000
