# SPDX-License-Identifier: Apache-2.0
"""The lifetime of flash from erase counts, worked out by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from flashbed.guest_output import wear


def noted(blocks: int, most: int, total: int, bad: int = 0) -> bytes:
    counts = {"blocks": blocks, "erase_count_max": most, "erase_count_sum": total}
    counts |= {"factory_bad_blocks": bad, "grown_bad_blocks": 0}
    return "".join(f"/sys/block/mblk0/wear/{name}:{count}\n" for name, count in counts.items()).encode()


def erases(counts: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(counts)}I", *counts)


# 100 blocks. One was erased 500 times before. In the measurement another is erased 40 times, and all others 11 times.
BEFORE = [500] + [1] * 99
AFTER = [511, 41] + [12] * 98
OUT = {
    wear.ERASES_BEFORE: erases(BEFORE),
    wear.ERASES_SYNCED: erases(AFTER),
    wear.WEAR_SYNCED: noted(100, 511, sum(AFTER)),
    wear.WEAR_FINISHED: noted(100, 512, sum(AFTER) + 10),
}
MEAN = (99 * 11 + 40) / 100


def test_life_by_the_most_worn_block_and_by_the_mean() -> None:
    metrics = wear.metrics(OUT, 1000, 8_000_000, 1050)
    assert metrics["wear_max"] == 512
    assert metrics["wear_mean"] == (sum(AFTER) + 10) / 100
    assert metrics["overwrites"] == 10.5
    # 40 erases of one block for 8 MB: 1,000 for 200 MB. Earlier erases of another block are not this load's.
    assert metrics["tbw_bytes"] == 200e6
    assert metrics["tbw_level_bytes"] == pytest.approx(8e9 / MEAN)


def test_what_has_not_settled_tells_no_life() -> None:
    assert not [name for name in wear.metrics(OUT, 1000, 8_000_000, 1050, settled=False) if name.startswith("tbw_")]


def test_years_are_for_the_load_of_a_study() -> None:
    metrics = wear.metrics(OUT, 1000, 8_000_000, 1050)
    assert wear.years(metrics, None) == {}
    years = wear.years(metrics, 200_000)
    assert years["lifetime_years"] == pytest.approx(1000 / 365.25)
    assert years["lifetime_level_years"] == pytest.approx(8e9 / MEAN / 200_000 / 365.25)


@pytest.mark.parametrize("overwritten", [0.01, 1, 9.99])
def test_a_short_measurement_has_no_lifetime(overwritten: float) -> None:
    metrics = wear.metrics(OUT, 1000, 8_000_000, 100 * overwritten)
    assert set(metrics) == {"wear_max", "wear_mean", "overwrites"}
    assert wear.years(metrics, 10**9) == {}


def test_a_short_measurement_has_bounds_of_the_lifetime() -> None:
    """100 blocks of 64 KiB with 1,000 erases each carry 6.55 GB if each byte is programmed, however long that takes."""
    flash = 100 * (64 << 10)

    def bounds(written: float, programmed: float, requested: float = 0.0) -> dict[str, float]:
        metrics = wear.metrics(OUT, 1000, written, programmed / (64 << 10), 64 << 10, requested or written)
        return {name: value for name, value in metrics.items() if name.startswith("tbw_")}

    # Half of the flash was programmed: the cost of garbage collection is unknown, so there is no lower bound
    assert bounds(flash / 4, flash / 2) == {"tbw_most_bytes": flash * 1000}
    # With a file system that compresses to a half, the flash carries twice as much
    assert bounds(flash / 2, flash / 4) == {"tbw_most_bytes": flash * 2000}
    # With a warm-up the pace is unknown; the bound is computed from the requested bytes, warm-up included
    assert bounds(0.0, flash / 4, flash / 2) == {"tbw_most_bytes": flash * 2000}
    assert bounds(0.0, flash / 4, 0.0) == {}
    # Overwritten twice, the first time without erases, as the flash was new. The most worn block has 40 or 41 erases
    assert bounds(2.0 * flash, 9.0 * flash) == {
        "tbw_most_bytes": flash * 1000, "tbw_least_bytes": pytest.approx(flash * 1000 / 41)
    }  # fmt: skip
    assert set(bounds(2.0 * flash, 10.0 * flash)) == {"tbw_bytes", "tbw_level_bytes"}
    # With a pace that still changes, there is no lower bound
    open_ = wear.metrics(OUT, 1000, 2.0 * flash, 900, 64 << 10, 2.0 * flash, settled=False)
    assert {name for name in open_ if name.startswith("tbw_")} == {"tbw_most_bytes"}


def test_bounds_in_years() -> None:
    years = wear.years({"tbw_most_bytes": 365.25e9, "tbw_least_bytes": 73.05e9}, 10**9)
    assert years == {"lifetime_most_years": pytest.approx(1.0), "lifetime_least_years": pytest.approx(0.2)}


def test_a_long_measurement_knows_the_pace_to_a_tenth() -> None:
    """Wherever it ends, a block has at most one erase more or less than at the pace of an endless measurement."""
    period, blocks = 7, 10  # blocks are erased in turn, each once in 10 erases
    lives = []
    for erased in range(wear.ENOUGH_OVERWRITES * blocks, wear.ENOUGH_OVERWRITES * blocks + period):
        counts = [erased // blocks + (place < erased % blocks) for place in range(blocks)]
        out = OUT | {wear.ERASES_BEFORE: erases([0] * blocks), wear.ERASES_SYNCED: erases(counts)}
        out[wear.WEAR_SYNCED] = noted(blocks, max(counts), erased)
        lives.append(wear.metrics(out, 1000, 1e6 * erased, erased)["tbw_bytes"])
    endless = 1000 * blocks * 1e6
    assert all(0.9 * endless < life <= endless for life in lives)


def test_programmed_pages_count_as_future_erases() -> None:
    # 100 blocks, 2,000 programs: each block 20 times, although there were fewer erases so far
    metrics = wear.metrics(OUT, 1000, 8_000_000, 2000)
    assert metrics["tbw_level_bytes"] == 8e9 / 20
    assert metrics["tbw_bytes"] == 200e6
    # 6,000: the most worn block, too, will be erased more often than it has been so far
    assert wear.metrics(OUT, 1000, 8_000_000, 6000)["tbw_bytes"] == pytest.approx(8e9 / 60)


def test_bad_blocks_share_no_wear() -> None:
    # 1 of 4 blocks is bad, and the others are erased 20 times each
    out = OUT | {wear.ERASES_BEFORE: erases([0] * 4), wear.ERASES_SYNCED: erases([20, 0, 20, 20])}
    out[wear.WEAR_SYNCED] = noted(3, 20, 60, bad=1)
    assert wear.metrics(out, 1000, 8_000_000, 45)["tbw_level_bytes"] == pytest.approx(8e9 / 20)
    # with two planes, a block is one in the counts and two in the sums
    out[wear.WEAR_SYNCED] = noted(6, 20, 120, bad=2)
    assert wear.metrics(out, 1000, 8_000_000, 90)["tbw_level_bytes"] == pytest.approx(8e9 / 20)


@pytest.mark.parametrize(("endurance", "written"), [(0, 8_000_000), (1000, 0)])
def test_nothing_is_said_of_a_life_that_nothing_tells(endurance: int, written: int) -> None:
    assert set(wear.metrics(OUT, endurance, written, 1050)) == {"wear_max", "wear_mean", "overwrites"}


def test_a_disk_does_not_wear() -> None:
    assert wear.metrics({}, 0, 4096, 0) == {}
