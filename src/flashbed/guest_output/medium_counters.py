# SPDX-License-Identifier: Apache-2.0
"""Read the medium's own counters as the guest noted them, and compute metrics from them.

Knows the names of the few counters that metrics use; all others pass through.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from flashbed.common.units import SECTOR_BYTES
from flashbed.guest_output import cpu_load

BEGUN_AT = "counters.begun"
"""A moment that few metrics use: before mkfs."""

BEFORE, MEASURED, SYNCED, FINISHED = "counters.before", "counters.measured", "counters.synced", "counters.finished"
"""Moments: before the measurement, right after it, after all data have reached the medium, after the unmount."""

UNMOUNTED = "counters.mount.down"
"""The moment before the file system is mounted for the measurement, when nothing of the medium is cached."""

BLOCK_BEFORE, BLOCK_MEASURED, BLOCK_SYNCED = "block.before", "block.measured", "block.synced"
"""Linux's counters of the cell's block device: its stat file. The seventh number is sectors written."""

SECTORS_WRITTEN = 6

CLOCK = "clock.before"
"""The machine's clock and the guest's clock at one moment, ns."""

DISCARDED = "discarded_before_bytes"

Counters = dict[str, int]

COUNTERS_PREFIX = "counters."

LOAD_PREFIX = COUNTERS_PREFIX + "load."
"""The prefix of marks that a tool sets around its load, if it also does setup work that is no part of it."""

BEGUN, ENDED = ".begun", ".ended"
"""Suffixes of a phase's name. ".ended" marks its end, if other work comes before the next phase. The begin's mark is
the name alone, or has ".begun".
"""


def parse(text: bytes) -> Counters:
    """Return the counters of lines such as "host_reads:17"."""
    pairs = (line.rsplit(":", 1) for line in text.decode().splitlines())
    return {sys.intern(path.rsplit("/", 1)[-1]): int(value) for path, value in pairs}  # thousands have the same names


def window_ns(out: Mapping[str, bytes]) -> tuple[int, int]:
    """Return when the measurement began and ended, on the machine's clock, which runs from power-on. In older results,
    in which a raw chip was part of its driver, it is the guest's clock. Raises KeyError or ValueError.
    """
    machine, guest = map(int, out[CLOCK].split()) if CLOCK in out else (0, 0)
    began, ended = cpu_load.window_ns(out)
    return began + machine - guest, ended + machine - guest


def phases(out: Mapping[str, bytes]) -> dict[str, Counters]:
    """Return the medium's counters over several times: the measurement; from its begin until all data had reached the
    medium; from the mount before until then; and the medium's whole life.
    """
    before, measured, synced, finished = (parse(out[name]) for name in (BEFORE, MEASURED, SYNCED, FINISHED))
    counters = {"measured": _difference(measured, before), "synced": _difference(synced, before), "life": finished}
    if UNMOUNTED in out:
        counters["with_mount"] = _difference(synced, parse(out[UNMOUNTED]))
    return counters


def marked(out: Mapping[str, bytes], names: Sequence[str]) -> dict[str, Counters]:
    """Return the medium's counters over each phase of a measurement: from its mark to the mark of its end; without
    that, to the next phase's mark or to the end of all.
    """
    counters_by_phase: dict[str, Counters] = {}
    for name, following in zip(names, (*(COUNTERS_PREFIX + name for name in names[1:]), MEASURED), strict=False):
        end = COUNTERS_PREFIX + name + ENDED
        counters_by_phase[name] = _difference(
            parse(out[end if end in out else following]), parse(out[COUNTERS_PREFIX + name])
        )
    return counters_by_phase


def marks_load(out: Mapping[str, bytes]) -> bool:
    """Return True if the tool set marks around its load."""
    return bool(_begun(out))


def of_load(out: Mapping[str, bytes]) -> Counters:
    """Return the medium's counters under the load: between the marks around it; without marks, over the measurement."""
    begin = _begun(out)
    if not begin:
        return _difference(parse(out[MEASURED]), parse(out[BEFORE]))
    parts = [_difference(parse(out[name.removesuffix(BEGUN) + ENDED]), parse(out[name])) for name in begin]
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _begun(out: Mapping[str, bytes]) -> list[str]:
    return [name for name in out if name.startswith(LOAD_PREFIX) and not name.endswith(ENDED)]


def moved_bytes(counters: Counters, page_bytes: int | None) -> tuple[float, float]:
    """Return the bytes that the medium read and wrote. A raw chip counts only pages that the driver transferred. A page
    whose spare area alone was read or programmed, such as for a deletion mark, moved no data.
    """
    if "host_read_bytes" not in counters:
        read = counters["flash_read_pages"] - counters["spare_read_pages"]
        programmed = counters["flash_programmed_pages"] - counters["spare_programmed_pages"]
        return float(read * (page_bytes or 0)), float(programmed * (page_bytes or 0))
    return float(counters["host_read_bytes"]), float(counters["host_written_bytes"])


def metrics(
    phases: Mapping[str, Counters], page_bytes: int | None, translated_bytes: int | None, workload_bytes: float
) -> dict[str, float]:
    """Return the bytes that the medium read and wrote in the measurement; its requests until all data had reached it,
    with and without those of the mount; and write amplification, which is bytes programmed per byte written.

    `page_bytes` is the size of a flash page, None for a medium without flash. Write amplification counts until all data
    have reached the medium, so that the page cache does not hide writes. A raw chip counts only pages, so the written
    bytes are `translated_bytes` of a translation's block device; None if there is none. Total write amplification is
    per byte of `workload_bytes`, which the workload wrote to its files.
    """
    read, moved = moved_bytes(phases["measured"], page_bytes)
    values = {"medium_read_bytes": read, "medium_written_bytes": moved}
    synced = phases["synced"]
    if "host_reads" in synced:
        values["medium_requests"] = _requests(synced)
        if "with_mount" in phases:
            values["medium_requests_with_mount"] = _requests(phases["with_mount"])
    programmed = programmed_bytes(synced, page_bytes)
    written = synced.get("host_written_bytes", translated_bytes)
    if page_bytes and written:
        values["write_amplification"] = programmed / written
    if page_bytes and workload_bytes:
        values["total_write_amplification"] = programmed / workload_bytes
    return values


def programmed_bytes(counters: Counters, page_bytes: int | None) -> int:
    """Return the bytes that the flash programmed; 0 for a medium without flash."""
    return counters.get("flash_programmed_pages", 0) * (page_bytes or 0)


def discarded(out: Mapping[str, bytes]) -> dict[str, float]:
    """Return the bytes discarded before the measurement, usually by mkfs; {} for a medium without discards."""
    if BEGUN_AT not in out or "host_discarded_bytes" not in (begin := parse(out[BEGUN_AT])):
        return {}
    return {DISCARDED: float(parse(out[BEFORE])["host_discarded_bytes"] - begin["host_discarded_bytes"])}


def translated_bytes(out: Mapping[str, bytes]) -> int | None:
    """Return the bytes written to the cell's block device until all data had reached the medium; None if there is no
    such device.
    """
    if BLOCK_SYNCED not in out:
        return None
    before, synced = (int(out[name].split()[SECTORS_WRITTEN]) for name in (BLOCK_BEFORE, BLOCK_SYNCED))
    return (synced - before) * SECTOR_BYTES


def _requests(counters: Counters) -> float:
    return float(counters["host_reads"] + counters["host_writes"])


def _difference(later: Counters, earlier: Counters) -> Counters:
    return {name: later[name] - earlier[name] for name in later}
