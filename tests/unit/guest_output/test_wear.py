# SPDX-License-Identifier: Apache-2.0
"""Life of flash from erase counts, worked out by hand."""

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


# 100 blocks. One was erased 500 times before; in the measurement another one is, 40 times, and all others 11 times.
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
    found = wear.metrics(OUT, 1000, 8_000_000, 1050)
    assert found["wear_max"] == 512
    assert found["wear_mean"] == (sum(AFTER) + 10) / 100
    assert found["overwrites"] == 10.5
    # 40 erases of one block for 8 MB: 1,000 for 200 MB. What another had before is not this load's.
    assert found["tbw_bytes"] == 200e6
    assert found["tbw_level_bytes"] == pytest.approx(8e9 / MEAN)


def test_what_has_not_settled_tells_no_life() -> None:
    assert not [name for name in wear.metrics(OUT, 1000, 8_000_000, 1050, settled=False) if name.startswith("tbw_")]


def test_years_are_for_the_load_of_a_study() -> None:
    found = wear.metrics(OUT, 1000, 8_000_000, 1050)
    assert wear.years(found, None) == {}
    told = wear.years(found, 200_000)
    assert told["lifetime_years"] == pytest.approx(1000 / 365.25)
    assert told["lifetime_level_years"] == pytest.approx(8e9 / MEAN / 200_000 / 365.25)


@pytest.mark.parametrize("overwritten", [0.01, 1, 9.99])
def test_a_short_measurement_tells_no_life(overwritten: float) -> None:
    found = wear.metrics(OUT, 1000, 8_000_000, 100 * overwritten)
    assert set(found) == {"wear_max", "wear_mean", "overwrites"}
    assert wear.years(found, 10**9) == {}


def test_a_short_measurement_bounds_a_life() -> None:
    """100 blocks of 64 KiB with 1,000 erases each carry 6.55 GB, however long it lasts, if each byte is programmed."""
    flash = 100 * (64 << 10)

    def bounds(written: float, programmed: float, asked: float = 0.0) -> dict[str, float]:
        found = wear.metrics(OUT, 1000, written, programmed / (64 << 10), 64 << 10, asked or written)
        return {name: value for name, value in found.items() if name.startswith("tbw_")}

    # Half of the flash was programmed: nothing tells what collection will cost, so that there is no lower bound
    assert bounds(flash / 4, flash / 2) == {"tbw_most_bytes": flash * 1000}
    # A file system that compresses to a half carries twice as much
    assert bounds(flash / 2, flash / 4) == {"tbw_most_bytes": flash * 2000}
    # With a warm-up no pace is told; the bound stands, by what was asked for with it
    assert bounds(0.0, flash / 4, flash / 2) == {"tbw_most_bytes": flash * 2000}
    assert bounds(0.0, flash / 4, 0.0) == {}
    # Written twice over, once of it for nothing as the flash was new. The most worn block was erased 40 times, or 41
    assert bounds(2.0 * flash, 9.0 * flash) == {
        "tbw_most_bytes": flash * 1000, "tbw_least_bytes": pytest.approx(flash * 1000 / 41)
    }  # fmt: skip
    assert set(bounds(2.0 * flash, 10.0 * flash)) == {"tbw_bytes", "tbw_level_bytes"}
    # A pace that still changes bounds nothing from below
    open_ = wear.metrics(OUT, 1000, 2.0 * flash, 900, 64 << 10, 2.0 * flash, settled=False)
    assert {name for name in open_ if name.startswith("tbw_")} == {"tbw_most_bytes"}


def test_bounds_are_told_in_years() -> None:
    told = wear.years({"tbw_most_bytes": 365.25e9, "tbw_least_bytes": 73.05e9}, 10**9)
    assert told == {"lifetime_most_years": pytest.approx(1.0), "lifetime_least_years": pytest.approx(0.2)}


def test_a_long_one_knows_the_pace_to_a_tenth() -> None:
    """Whenever it ends, a block is erased once more or less at most, against the pace of a measurement without end."""
    period, blocks = 7, 10  # erases of one block after the other, each once in 10
    lives = []
    for erased in range(wear.ENOUGH_OVERWRITES * blocks, wear.ENOUGH_OVERWRITES * blocks + period):
        counts = [erased // blocks + (place < erased % blocks) for place in range(blocks)]
        out = OUT | {wear.ERASES_BEFORE: erases([0] * blocks), wear.ERASES_SYNCED: erases(counts)}
        out[wear.WEAR_SYNCED] = noted(blocks, max(counts), erased)
        lives.append(wear.metrics(out, 1000, 1e6 * erased, erased)["tbw_bytes"])
    endless = 1000 * blocks * 1e6
    assert all(0.9 * endless < life <= endless for life in lives)


def test_what_was_programmed_will_have_to_be_erased() -> None:
    # 100 blocks, 2,000 of them programmed: each 20 times, where erases so far are fewer
    found = wear.metrics(OUT, 1000, 8_000_000, 2000)
    assert found["tbw_level_bytes"] == 8e9 / 20
    assert found["tbw_bytes"] == 200e6
    # 6,000: also the most worn block will have been erased more often than it has been
    assert wear.metrics(OUT, 1000, 8_000_000, 6000)["tbw_bytes"] == pytest.approx(8e9 / 60)


def test_bad_blocks_share_no_wear() -> None:
    # of 4 blocks 1 is bad, and the others are erased 20 times each
    out = OUT | {wear.ERASES_BEFORE: erases([0] * 4), wear.ERASES_SYNCED: erases([20, 0, 20, 20])}
    out[wear.WEAR_SYNCED] = noted(3, 20, 60, bad=1)
    assert wear.metrics(out, 1000, 8_000_000, 45)["tbw_level_bytes"] == pytest.approx(8e9 / 20)
    # and with two planes, of which each block is one in the counts and two in the sums
    out[wear.WEAR_SYNCED] = noted(6, 20, 120, bad=2)
    assert wear.metrics(out, 1000, 8_000_000, 90)["tbw_level_bytes"] == pytest.approx(8e9 / 20)


@pytest.mark.parametrize(("endurance", "written"), [(0, 8_000_000), (1000, 0)])
def test_nothing_is_said_of_a_life_that_nothing_tells(endurance: int, written: int) -> None:
    assert set(wear.metrics(OUT, endurance, written, 1050)) == {"wear_max", "wear_mean", "overwrites"}


def test_a_disk_does_not_wear() -> None:
    assert wear.metrics({}, 0, 4096, 0) == {}
