# SPDX-License-Identifier: Apache-2.0
"""The medium's own counters as the guest noted them, and the metrics that follow from them.

Knows the names of the few counters that metrics are made of; all others pass through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flashbed.guest_output import cpu_load

BEGUN_AT = "counters.begun"
"""A moment that few metrics want: before mkfs."""

BEFORE, MEASURED, SYNCED, FINISHED = "counters.before", "counters.measured", "counters.synced", "counters.finished"
"""Moments: before the measurement, right after it, after all has reached the medium, after the unmount."""

UNMOUNTED = "counters.mount.down"
"""Before the file system is mounted for the measurement: nothing of the medium is in memory."""

BLOCK_BEFORE, BLOCK_MEASURED, BLOCK_SYNCED = "block.before", "block.measured", "block.synced"
"""What Linux counted of the cell's block device: its stat file, where the seventh number is of sectors written."""

SECTORS_WRITTEN = 6
SECTOR_BYTES = 512

CLOCK = "clock.before"
"""The clock of the machine and that of the guest at one moment, ns."""

DISCARDED = "discarded_before_bytes"

Counters = dict[str, int]

PREFIX = "counters."

LOAD = PREFIX + "load."
"""What marks begin with that a tool sets around its load, where it also sets up what is no part of it."""

BEGUN, ENDED = ".begun", ".ended"
"""Behind a phase's name: the mark of its end, where something that is no part of it comes before the next. That of its
beginning is the name alone, or says so too.
"""


def parse(text: bytes) -> Counters:
    """Counters from lines such as "host_reads:17"."""
    pairs = (line.rsplit(":", 1) for line in text.decode().splitlines())
    return {path.rsplit("/", 1)[-1]: int(value) for path, value in pairs}


def window_ns(out: Mapping[str, bytes]) -> tuple[int, int]:
    """When the measurement began and ended, by the machine's clock, which runs from power-on. In results of when a raw
    chip was in its driver it is the guest's. Raises KeyError or ValueError.
    """
    machine, guest = map(int, out[CLOCK].split()) if CLOCK in out else (0, 0)
    began, ended = cpu_load.window_ns(out)
    return began + machine - guest, ended + machine - guest


def phases(out: Mapping[str, bytes]) -> dict[str, Counters]:
    """What the medium did during the measurement, from then until all had reached it, from the mount before until then,
    and in its whole life.
    """
    before, measured, synced, finished = (parse(out[name]) for name in (BEFORE, MEASURED, SYNCED, FINISHED))
    found = {"measured": _difference(measured, before), "synced": _difference(synced, before), "life": finished}
    if UNMOUNTED in out:
        found["with_mount"] = _difference(synced, parse(out[UNMOUNTED]))
    return found


def marked(out: Mapping[str, bytes], names: Sequence[str]) -> dict[str, Counters]:
    """What the medium did in each of a measurement's phases: from its mark to that of its end, where it has one, else
    to the next phase's, or to the end of all.
    """
    found: dict[str, Counters] = {}
    for name, following in zip(names, (*(PREFIX + name for name in names[1:]), MEASURED), strict=False):
        end = PREFIX + name + ENDED
        found[name] = _difference(parse(out[end if end in out else following]), parse(out[PREFIX + name]))
    return found


def marks_load(out: Mapping[str, bytes]) -> bool:
    """Whether the tool set marks around its load."""
    return bool(_begun(out))


def of_load(out: Mapping[str, bytes]) -> Counters:
    """What the medium did under the load: between the marks that the tool set around it, else in the measurement."""
    begun = _begun(out)
    if not begun:
        return _difference(parse(out[MEASURED]), parse(out[BEFORE]))
    parts = [_difference(parse(out[name.removesuffix(BEGUN) + ENDED]), parse(out[name])) for name in begun]
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _begun(out: Mapping[str, bytes]) -> list[str]:
    return [name for name in out if name.startswith(LOAD) and not name.endswith(ENDED)]


def moved_bytes(counters: Counters, page_bytes: int | None) -> tuple[float, float]:
    """Bytes that the medium read and wrote. A raw chip knows pages only: what the driver moved is all that there is. A
    page of which the spare area alone was read or programmed, such as for a mark of deletion, moved no data.
    """
    if "host_read_bytes" not in counters:
        read = counters["flash_read_pages"] - counters["spare_read_pages"]
        programmed = counters["flash_programmed_pages"] - counters["spare_programmed_pages"]
        return float(read * (page_bytes or 0)), float(programmed * (page_bytes or 0))
    return float(counters["host_read_bytes"]), float(counters["host_written_bytes"])


def metrics(
    phases: Mapping[str, Counters], page_bytes: int | None, translated_bytes: int | None, workload_bytes: float
) -> dict[str, float]:
    """Bytes that the medium read and wrote while measured, requests that it got until all had reached it, without and
    with those of the mount, and write amplification: bytes programmed against bytes written.

    `page_bytes` is the size of a flash page, None for a medium without. Write amplification counts until all data
    have reached the medium, so that the page cache does not hide writes. A raw chip knows pages only: what was written
    is `translated_bytes`, told by a translation's block device, None if there is none. Total write
    amplification is against `workload_bytes`, what the workload wrote to its files.
    """
    read, moved = moved_bytes(phases["measured"], page_bytes)
    found = {"medium_read_bytes": read, "medium_written_bytes": moved}
    synced = phases["synced"]
    if "host_reads" in synced:
        found["medium_requests"] = _requests(synced)
        if "with_mount" in phases:
            found["medium_requests_with_mount"] = _requests(phases["with_mount"])
    programmed = synced.get("flash_programmed_pages", 0) * (page_bytes or 0)
    written = synced.get("host_written_bytes", translated_bytes)
    if page_bytes and written:
        found["write_amplification"] = programmed / written
    if page_bytes and workload_bytes:
        found["total_write_amplification"] = programmed / workload_bytes
    return found


def discarded(out: Mapping[str, bytes]) -> dict[str, float]:
    """What was discarded before the measurement, bytes: by mkfs, as a rule. Nothing for a medium without discards."""
    if BEGUN_AT not in out or "host_discarded_bytes" not in (begun := parse(out[BEGUN_AT])):
        return {}
    return {DISCARDED: float(parse(out[BEFORE])["host_discarded_bytes"] - begun["host_discarded_bytes"])}


def translated_bytes(out: Mapping[str, bytes]) -> int | None:
    """Bytes written to the cell's block device until all had reached the medium; None where there is no such device."""
    if BLOCK_SYNCED not in out:
        return None
    before, synced = (int(out[name].split()[SECTORS_WRITTEN]) for name in (BLOCK_BEFORE, BLOCK_SYNCED))
    return (synced - before) * SECTOR_BYTES


def _requests(counters: Counters) -> float:
    return float(counters["host_reads"] + counters["host_writes"])


def _difference(later: Counters, earlier: Counters) -> Counters:
    return {name: later[name] - earlier[name] for name in later}
