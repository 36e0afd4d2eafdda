# SPDX-License-Identifier: Apache-2.0
"""Compute how flash wears under a workload and how long it lasts, from the erase count of each block that the guest
noted, and from the endurance in the data sheet.

TBW, total bytes written, is what a workload can write until the erases reach the endurance, at the pace of the
measurement:

    tbw_level_bytes = written * endurance / mean erases of a block in the measurement
    tbw_bytes       = written * endurance / erases of the most worn block in the measurement

The first would hold if all blocks wore alike. The second is when the most worn block is at its end, which a file system
feels first. Erases are counted block by block above what the medium had before, until all data have reached the medium.
A programmed page will have to be erased, also if the first writes went to blocks that were erased long before:
programmed pages count as erases if they fill more blocks than were erased.

Neither is reported before there is a pace. A count of erases is exact to one: a block may have been erased just before
the measurement ended, or be about to be. When the flash has been overwritten n times, a block has n erases on average,
and the pace is exact to one part in n. ENOUGH_OVERWRITES makes that a tenth.

Before that, bounds are reported. All blocks together have a number of erases to give, and each written byte takes its
part of one, whatever garbage collection adds; less if the file system compresses, or if memory keeps what is
overwritten:

    tbw_most_bytes  = endurance * bytes of flash / min(1, bytes programmed / bytes written)

Once more was written than the flash holds, new blocks are used up, and everything beyond that costs erases:

    tbw_least_bytes = (written - bytes of flash) * endurance / (erases of the most worn block + 1)

Must not know who erased, nor what the workload was.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from flashbed.guest_output import medium_counters
from flashbed.guest_output.assessment import Assessment, State

WEAR_SYNCED, WEAR_FINISHED = "wear.synced", "wear.finished"
"""Moments, as in medium_counters. Only media that wear have these files."""

ERASES_BEFORE, ERASES_SYNCED = "erases.before", "erases.synced"
"""The erase count of each block, 32 bits each, in the guest's byte order."""

ENOUGH_OVERWRITES = 10
"""A measurement must program all of the flash this often before it reports a lifetime."""

DAYS_OF_A_YEAR = 365.25

_ALL_BLOCKS = ("blocks", "factory_bad_blocks", "grown_bad_blocks")

LIVES = {"lifetime_years": "tbw_bytes", "lifetime_level_years": "tbw_level_bytes"}
"""The metrics of a lifetime, each with the metric that it is computed from."""

TBW_BOUNDS = ("tbw_least_bytes", "tbw_most_bytes")
BOUNDS = {"lifetime_least_years": "tbw_least_bytes", "lifetime_most_years": "tbw_most_bytes"}
"""The bounds of an unknown lifetime, each with the metric that it is computed from."""

BOUNDED_BY = {**dict.fromkeys(LIVES, tuple(BOUNDS)), **dict.fromkeys(LIVES.values(), TBW_BOUNDS)}
"""The lower and the upper bound of each metric of a lifetime."""


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
    """Return erase counts over the medium's whole life, how often the measurement overwrote it, and its TBW under the
    measured load, or the bounds of the TBW.

    `endurance_erases` is 0 if no data sheet states it. `programmed_blocks` were programmed while `written_bytes` were
    written, in blocks of `block_bytes`. `asked_bytes` is the written amount with the warm-up, 0 if unknown. If write
    amplification had not `settled`, only the upper bound is reported. Raises KeyError or ValueError.
    """
    if WEAR_FINISHED not in out:
        return {}
    synced, finished = (medium_counters.parse(out[name]) for name in (WEAR_SYNCED, WEAR_FINISHED))
    figures = {"wear_max": float(finished["erase_count_max"])}
    if not finished["blocks"]:
        return figures
    figures["wear_mean"] = finished["erase_count_sum"] / finished["blocks"]
    figures["overwrites"] = programmed_blocks / synced["blocks"]
    if not endurance_erases:
        return figures
    before, after = _erases(out[ERASES_BEFORE]), _erases(out[ERASES_SYNCED])
    erased = [late - early for early, late in zip(before, after, strict=True)]
    # The counts include bad blocks; blocks of several planes are one count
    good = len(erased) * synced["blocks"] / sum(synced[kind] for kind in _ALL_BLOCKS)
    mean = max(sum(erased) / good, figures["overwrites"])
    if written_bytes and settled and figures["overwrites"] >= ENOUGH_OVERWRITES:
        lifetime_erase_bytes = written_bytes * endurance_erases
        return {
            **figures,
            "tbw_bytes": lifetime_erase_bytes / max(*erased, mean),
            "tbw_level_bytes": lifetime_erase_bytes / mean,
        }
    flash_bytes = synced["blocks"] * block_bytes
    if flash_bytes and asked_bytes:
        least_amplification = min(1.0, programmed_blocks * block_bytes / asked_bytes)
        if least_amplification:
            figures["tbw_most_bytes"] = endurance_erases * flash_bytes / least_amplification
    if flash_bytes and settled and written_bytes > flash_bytes:
        figures["tbw_least_bytes"] = (written_bytes - flash_bytes) * endurance_erases / (max(*erased, mean) + 1)
    return figures


class Freshness(Assessment):
    """FRESH if the flash was still new; empty for other media."""


def freshness(counters: Mapping[str, Mapping[str, int]], medium: Mapping[str, Any]) -> Freshness:
    """Return FRESH and the written share if the flash was programmed with less than its capacity over its whole life,
    by the medium's counters. Such flash may not have collected garbage: its figures are those of a new device. `medium`
    has its parameters.
    """
    programmed = counters.get("life", {}).get("flash_programmed_pages")
    if programmed is None or not medium.get("page_bytes"):
        return Freshness()
    written, holds = programmed * medium["page_bytes"], medium["capacity_bytes"]
    if written >= holds:
        return Freshness()
    return Freshness(State.FRESH, f"{100 * written // holds} % of its capacity was ever programmed")


def years(metrics: Mapping[str, float], bytes_per_day: int | None) -> dict[str, float]:
    """Return how long the medium of these metrics lasts if so much is written a day; {} without such a load."""
    if not bytes_per_day:
        return {}
    lives = {**LIVES, **BOUNDS}
    return {life: metrics[tbw] / bytes_per_day / DAYS_OF_A_YEAR for life, tbw in lives.items() if tbw in metrics}


def _erases(data: bytes) -> tuple[int, ...]:
    if len(data) % 4:
        raise ValueError("the erase counts are not a row of 32-bit numbers")
    return struct.unpack(f"<{len(data) // 4}I", data)
