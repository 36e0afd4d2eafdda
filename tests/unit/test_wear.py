# SPDX-License-Identifier: Apache-2.0
"""Life of flash from erase counts, worked out by hand."""

from __future__ import annotations

import pytest

from flashbed import wear


def noted(blocks: int, least: int, most: int, total: int) -> bytes:
    counts = {"blocks": blocks, "erase_count_min": least, "erase_count_max": most, "erase_count_sum": total}
    return "".join(f"/sys/block/mblk0/wear/{name}:{count}\n" for name, count in counts.items()).encode()


# 100 blocks, each erased once when the chip was formatted; then 400 erases more, most of them of a few blocks
OUT = {
    wear.BEFORE: noted(100, 1, 1, 100),
    wear.SYNCED: noted(100, 1, 41, 500),
    wear.FINISHED: noted(100, 1, 42, 510),
}


def test_life_by_the_most_worn_block_and_by_the_mean() -> None:
    found = wear.metrics(OUT, 1000, 8_000_000, 300)
    assert found["wear_max"] == 42
    assert found["wear_mean"] == 5.1
    # 40 erases of the most worn block for 8 MB: 1,000 for 200 MB. 4 erases of a block for 8 MB in the mean: 2 GB.
    assert found["tbw_bytes"] == 200e6
    assert found["tbw_level_bytes"] == 2e9
    assert found["lifetime_years"] == pytest.approx(0.2 / 365.25)
    assert found["lifetime_level_years"] == pytest.approx(2 / 365.25)


def test_what_was_worn_before_never_lengthens_the_life() -> None:
    worn = OUT | {wear.BEFORE: noted(100, 0, 39, 100)}
    assert wear.metrics(worn, 1000, 8_000_000, 300)["tbw_bytes"] == pytest.approx(8e9 / 41)


def test_what_was_programmed_will_have_to_be_erased() -> None:
    # 100 blocks, 600 of them programmed: each 6 times, where erases so far are 4
    found = wear.metrics(OUT, 1000, 8_000_000, 600)
    assert found["tbw_level_bytes"] == pytest.approx(8e9 / 6)
    assert found["tbw_bytes"] == 200e6
    # into blocks that were erased before: no block is erased, yet all wear
    fresh = wear.metrics(OUT | {wear.SYNCED: OUT[wear.BEFORE]}, 1000, 8_000_000, 50)
    assert fresh["tbw_bytes"] == fresh["tbw_level_bytes"] == 16e9


@pytest.mark.parametrize(("endurance", "written"), [(0, 8_000_000), (1000, 0)])
def test_nothing_is_said_of_a_life_that_nothing_tells(endurance: int, written: int) -> None:
    assert set(wear.metrics(OUT, endurance, written, 300)) == {"wear_max", "wear_mean"}


def test_no_erases_tell_no_life() -> None:
    assert set(wear.metrics(OUT | {wear.SYNCED: OUT[wear.BEFORE]}, 1000, 4096, 0)) == {"wear_max", "wear_mean"}


def test_a_disk_does_not_wear() -> None:
    assert wear.metrics({}, 0, 4096, 0) == {}
