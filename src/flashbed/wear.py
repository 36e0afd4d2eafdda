# SPDX-License-Identifier: Apache-2.0
"""How flash wears under a workload, and how long it lasts: from erase counts that the guest noted, and the endurance
that the data sheet promises.

TBW, total bytes written, is what a workload can write until the erases reach the endurance, at the pace of the
measurement:

    tbw_level_bytes = written * endurance / mean erases of a block that the writing brought
    tbw_bytes       = written * endurance / most erases of a block that it can have brought

The first would hold if all blocks wore alike; the second is when the most worn block is at its end, which is what a
file system feels first. Erases are counted until all data have reached the medium. Two things keep a life from being
told too long. A page that was programmed will have to be erased, also where the first writes went to blocks that were
erased long before: pages that were programmed count as erases, if they fill more blocks than were erased. And what a
block had been erased before is not known block by block, so the second takes the most erases of any block after the
writing, less the fewest of any before, but no fewer than the mean.

Must not know who erased, nor what the workload was.
"""

from __future__ import annotations

from collections.abc import Mapping

BEFORE, SYNCED, FINISHED = "wear.before", "wear.synced", "wear.finished"
"""Moments, as medium_counters has them; the files are there for media that wear only."""

DAILY_BYTES = 10**9
"""The load that lifetime_years assumes: 1 GB a day."""

DAYS_OF_A_YEAR = 365.25


def metrics(
    out: Mapping[str, bytes], endurance_erases: int, written_bytes: float, programmed_blocks: float
) -> dict[str, float]:
    """Erase counts over the medium's whole life, and its TBW and life under what was measured.

    `endurance_erases` is 0 where no data sheet tells it. `programmed_blocks` is what was programmed while
    `written_bytes` were written, in blocks. Where nothing was, nothing can be said of the life. Raises KeyError or
    ValueError.
    """
    if FINISHED not in out:
        return {}
    before, synced, finished = (_parse(out[name]) for name in (BEFORE, SYNCED, FINISHED))
    found = {"wear_max": float(finished["erase_count_max"])}
    if finished["blocks"]:
        found["wear_mean"] = finished["erase_count_sum"] / finished["blocks"]
    erased = max(synced["erase_count_sum"] - before["erase_count_sum"], programmed_blocks)
    if not endurance_erases or not written_bytes or erased <= 0:
        return found
    promised, mean = written_bytes * endurance_erases, erased / synced["blocks"]
    found["tbw_bytes"] = promised / max(synced["erase_count_max"] - before["erase_count_min"], mean)
    found["tbw_level_bytes"] = promised / mean
    for life, tbw in (("lifetime_years", "tbw_bytes"), ("lifetime_level_years", "tbw_level_bytes")):
        found[life] = found[tbw] / DAILY_BYTES / DAYS_OF_A_YEAR
    return found


def _parse(text: bytes) -> dict[str, int]:
    """Numbers from lines such as "/sys/block/mblk0/wear/erase_count_max:17"."""
    pairs = (line.rsplit(":", 1) for line in text.decode().splitlines())
    return {path.rsplit("/", 1)[-1]: int(value) for path, value in pairs}
