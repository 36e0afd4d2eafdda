# SPDX-License-Identifier: Apache-2.0
"""The medium's own counters as the guest noted them, and the metrics that follow from them.

Knows the names of the few counters that metrics are made of; all others pass through.
"""

from __future__ import annotations

from collections.abc import Mapping

BEFORE, MEASURED, SYNCED, FINISHED = "counters.before", "counters.measured", "counters.synced", "counters.finished"
"""Moments: before the measurement, right after it, after all has reached the medium, after the unmount."""

Counters = dict[str, int]


def parse(text: bytes) -> Counters:
    """Counters from lines such as "/sys/block/mblk0/medium/host_reads:17"."""
    pairs = (line.rsplit(":", 1) for line in text.decode().splitlines())
    return {path.rsplit("/", 1)[-1]: int(value) for path, value in pairs}


def phases(out: Mapping[str, bytes]) -> dict[str, Counters]:
    """What the medium did during the measurement, until all had reached it, and in its whole life."""
    before, measured, synced, finished = (parse(out[name]) for name in (BEFORE, MEASURED, SYNCED, FINISHED))
    return {"measured": _difference(measured, before), "synced": _difference(synced, before), "life": finished}


def metrics(phases: Mapping[str, Counters], page_bytes: int | None) -> dict[str, float]:
    """Bytes that the medium read and wrote while measured, and write amplification: bytes programmed against bytes
    written.

    `page_bytes` is the size of a flash page, None for a medium without. Write amplification counts until all data
    have reached the medium, so that the page cache does not hide writes. A raw chip knows pages only, and no bytes that
    somebody wanted to write.
    """
    measured, synced = phases["measured"], phases["synced"]
    if "host_read_bytes" not in measured:  # a raw chip: what the driver moved is all that there is
        return {
            "medium_read_bytes": float(measured["flash_read_pages"] * (page_bytes or 0)),
            "medium_written_bytes": float(measured["flash_programmed_pages"] * (page_bytes or 0)),
        }
    found = {
        "medium_read_bytes": float(measured["host_read_bytes"]),
        "medium_written_bytes": float(measured["host_written_bytes"]),
    }
    written = synced["host_written_bytes"]
    if page_bytes and written:
        found["write_amplification"] = synced["flash_programmed_pages"] * page_bytes / written
    return found


def _difference(later: Counters, earlier: Counters) -> Counters:
    return {name: later[name] - earlier[name] for name in later}
