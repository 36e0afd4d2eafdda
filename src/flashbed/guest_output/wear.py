# SPDX-License-Identifier: Apache-2.0
"""How flash wears under a workload, and how long it lasts: from the erases of each block that the guest noted, and the
endurance that the data sheet promises.

TBW, total bytes written, is what a workload can write until the erases reach the endurance, at the pace of the
measurement:

    tbw_level_bytes = written * endurance / mean erases of a block in the measurement
    tbw_bytes       = written * endurance / erases of the most worn block in the measurement

The first would hold if all blocks wore alike; the second is when the most worn block is at its end, which is what a
file system feels first. Erases are counted block by block above what the medium had before, until all data have reached
the medium. A page that was programmed will have to be erased, also where the first writes went to blocks that were
erased long before: pages that were programmed count as erases, if they fill more blocks than were erased.

Neither is told before there is a pace. A count of erases is known to one: a block may have been erased just before the
measurement ended, or be about to be. When the flash has been overwritten n times, a block has n erases in the mean, and
the pace is known to a part in n. ENOUGH_OVERWRITES makes that a tenth.

Bounds are told before that. All blocks together have a number of erases to give, and each byte that is written takes
its part of one, whatever collection adds; less where the file system compresses, or memory keeps what is overwritten:

    tbw_most_bytes  = endurance * bytes of flash / min(1, bytes programmed / bytes written)

Once more was written than the flash holds, new blocks are used up, and what is beyond that was paid for in erases:

    tbw_least_bytes = (written - bytes of flash) * endurance / (erases of the most worn block + 1)

Must not know who erased, nor what the workload was.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from flashbed.guest_output.assessment import Assessment

SYNCED, FINISHED = "wear.synced", "wear.finished"
"""Moments, as medium_counters has them; the files are there for media that wear only."""

ERASES_BEFORE, ERASES_SYNCED = "erases.before", "erases.synced"
"""The erase count of each block, 32 bits each, as the guest's CPU has them."""

ENOUGH_OVERWRITES = 10
"""So often must all of the flash have been programmed in a measurement before it tells a life."""

DAYS_OF_A_YEAR = 365.25

_ALL_BLOCKS = ("blocks", "factory_bad_blocks", "grown_bad_blocks")

LIVES = {"lifetime_years": "tbw_bytes", "lifetime_level_years": "tbw_level_bytes"}
"""The metrics of a life, and what each is made of."""

TBW_BOUNDS = ("tbw_least_bytes", "tbw_most_bytes")
BOUNDS = {"lifetime_least_years": "tbw_least_bytes", "lifetime_most_years": "tbw_most_bytes"}
"""The same of the bounds of a life that is not known yet."""

BOUNDED_BY = {**dict.fromkeys(LIVES, tuple(BOUNDS)), **dict.fromkeys(LIVES.values(), TBW_BOUNDS)}
"""By metric of a life, the metrics that it is at least and at most."""


def metrics(
    out: Mapping[str, bytes],
    endurance_erases: int,
    written_bytes: float,
    programmed_blocks: float,
    block_bytes: int = 0,
    asked_bytes: float = 0.0,
    *,
    settled: bool = True,
) -> dict[str, float]:
    """Erase counts over the medium's whole life, how often the measurement overwrote it, and its TBW under what was
    measured, or the bounds of that.

    `endurance_erases` is 0 where no data sheet tells it. `programmed_blocks` is what was programmed while
    `written_bytes` were written, in blocks of `block_bytes`. `asked_bytes` is what was written with the warm-up, 0
    where that is not known. Where write amplification had not `settled`, only the upper bound is told. Raises
    KeyError or ValueError.
    """
    if FINISHED not in out:
        return {}
    synced, finished = (_parse(out[name]) for name in (SYNCED, FINISHED))
    known = {"wear_max": float(finished["erase_count_max"])}
    if not finished["blocks"]:
        return known
    known["wear_mean"] = finished["erase_count_sum"] / finished["blocks"]
    known["overwrites"] = programmed_blocks / synced["blocks"]
    if not endurance_erases:
        return known
    before, after = _erases(out[ERASES_BEFORE]), _erases(out[ERASES_SYNCED])
    erased = [late - early for early, late in zip(before, after, strict=True)]
    # Bad blocks are among the counts; blocks of several planes are one count
    good = len(erased) * synced["blocks"] / sum(synced[kind] for kind in _ALL_BLOCKS)
    mean = max(sum(erased) / good, known["overwrites"])
    if written_bytes and settled and known["overwrites"] >= ENOUGH_OVERWRITES:
        promised = written_bytes * endurance_erases
        return {**known, "tbw_bytes": promised / max(*erased, mean), "tbw_level_bytes": promised / mean}
    flash_bytes = synced["blocks"] * block_bytes
    if flash_bytes and asked_bytes:
        each = min(1.0, programmed_blocks * block_bytes / asked_bytes)
        if each:
            known["tbw_most_bytes"] = endurance_erases * flash_bytes / each
    if flash_bytes and settled and written_bytes > flash_bytes:
        known["tbw_least_bytes"] = (written_bytes - flash_bytes) * endurance_erases / (max(*erased, mean) + 1)
    return known


class Freshness(Assessment):
    """That flash was still new: FRESH; none of other media."""


FRESH = "fresh"


def freshness(counters: Mapping[str, Mapping[str, int]], medium: Mapping[str, Any]) -> Freshness:
    """FRESH, and how much was written, for flash that had not been written as much as it holds when all was done, by
    what the medium counted in its whole life. Such flash need not have collected: a figure of it is that of a new
    device. `medium` has its parameters.
    """
    programmed = counters.get("life", {}).get("flash_programmed_pages")
    if programmed is None or not medium.get("page_bytes"):
        return Freshness()
    written, holds = programmed * medium["page_bytes"], medium["capacity_bytes"]
    if written >= holds:
        return Freshness()
    return Freshness(FRESH, f"{100 * written // holds} % of its capacity was ever programmed")


def years(metrics: Mapping[str, float], bytes_per_day: int | None) -> dict[str, float]:
    """How long the medium of these metrics lasts if so much is written a day; nothing without such a load."""
    if not bytes_per_day:
        return {}
    lives = {**LIVES, **BOUNDS}
    return {life: metrics[tbw] / bytes_per_day / DAYS_OF_A_YEAR for life, tbw in lives.items() if tbw in metrics}


def _erases(data: bytes) -> tuple[int, ...]:
    if len(data) % 4:
        raise ValueError("the erase counts are not a row of 32-bit numbers")
    return struct.unpack(f"<{len(data) // 4}I", data)


def _parse(text: bytes) -> dict[str, int]:
    """Numbers from lines such as "erase_count_max:17"."""
    pairs = (line.rsplit(":", 1) for line in text.decode().splitlines())
    return {path.rsplit("/", 1)[-1]: int(value) for path, value in pairs}
