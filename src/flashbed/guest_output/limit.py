# SPDX-License-Identifier: Apache-2.0
"""Find what limited a measurement: the medium, the bus to it, the CPU, memory, a link, or the load itself.

Each part has a share of the load's run time. The CPU's is its non-idle time (cpu_load.py). With several CPUs the
busiest counts, because a load may wait for one busy CPU beside any number of idle ones. The medium's is the time with a
request in flight that was not merely being transferred. The bus's is the transferred bytes times the time per byte. The
link's, between a server and its load, is the time of its frames. With PIO the CPU is busy while it moves data; that
counts as the bus's. Around the load the tool starts, and waits for its threads in steps. The CPU's idle time in there
is unknown, so the CPU's share is a lower bound.

If parts work one after another, the largest share is the part to make faster. If they overlap, a medium with a request
always in flight may still wait for the CPU. A CPU that is busy for BUSY_PERCENT of the time is the limit whatever else
is busy: with an infinitely fast medium the load would be at most 1.25 times as fast. Must not know who did the work,
nor how it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from flashbed.common.units import SECTOR_BYTES
from flashbed.guest_output import cpu_load, medium_counters

Direction = Literal["read", "write", "either"]
"""Which way data moves between board and medium."""

Limit = Literal["medium", "bus", "cpu", "memory", "link", "load", ""]

BUSY_PERCENT = 80.0
"""From this load on, hardly anything else can be the limit."""

IDLE_BELOW_PERCENT = 50.0
"""If CPU, bus, medium and link together are busy for less, they wait for the load."""

SWALLOWED_BELOW = 0.5
"""The least share of the requested bytes that must reach the medium for a cell to measure the medium."""

REACHED_PERCENT = "reached_percent"
"""The metric of a tool with phases: the bytes that the medium moved in each phase's direction, as a share of the
requested bytes. The medium's counters also include what comes between phases, such as the scan of a mount.
"""

IN_CALLS = 0.5
"""The share of its run that a process must spend in requests, for their latency to say what it waits for."""


@dataclass(frozen=True)
class Rig:
    """The data of a cell's medium and board that the shares depend on: the medium's parameters, the ns in which the
    board's CPU moves a sector (0 with DMA), and the ps of its raw-chip controller's cycle.
    """

    medium: Mapping[str, int]
    pio_sector_ns: int
    nand_cycle_ps: int


@dataclass(frozen=True)
class Time:
    """The times of a measurement and of the load within it, as far as the tool reports them. If the tool notes when its
    load began and ended, the measurement is that window.
    """

    measured_ns: int
    cpu_ns: int
    """CPU time in the whole measurement, of the busiest CPU."""
    run_ns: float
    process_cpu_percent: float
    """The share of the run that the tool's processes used, per CPU: on four CPUs, a quarter of their sum."""
    known_percent: float | None = None
    """The share of the run for which the load's CPUs were busy, if the tool reports it."""

    def cpu_percent(self) -> float:
        """Return the share of the run for which the CPU was busy, or its lower bound if it is unknown."""
        if self.known_percent is not None:
            return self.known_percent
        around_ns = self.measured_ns - self.run_ns
        return min(100.0, max(self.process_cpu_percent, 100.0 * (self.cpu_ns - around_ns) / self.run_ns))


def time_of(out: Mapping[str, bytes], metrics: Mapping[str, float], window: cpu_load.NotedWindow | None = None) -> Time:
    """Return the times from the guest's notes and the tool's metrics. Without `window`, use the load's if CPUs and
    medium were noted at its begin and end. Raises KeyError or ValueError.
    """
    if window is None:
        # Older results have the CPUs of the load, but the medium of the whole measurement
        both = cpu_load.notes_load(out) and medium_counters.marks_load(out)
        window = cpu_load.LOAD_WINDOW if both else cpu_load.MEASUREMENT_WINDOW
    measured_ns = cpu_load.length_ns(out, window)
    run_s = metrics.get("runtime_s", 0.0) + metrics.get("warm_up_s", 0.0)  # the counters include the warm-up
    run_ns = min(run_s * 1e9 or measured_ns, measured_ns)
    busy_ns = cpu_load.each_busy_ns(out, window)
    of_processes = metrics.get("process_cpu_percent", 0.0) / len(busy_ns)
    return Time(measured_ns, max(busy_ns), run_ns, of_processes, metrics.get("busy_cpu_percent"))


def percents(rig: Rig, counters: Mapping[str, int], moved_bytes: float, time: Time) -> dict[str, float]:
    """Return the shares of the run in which CPU, medium and bus worked, given the medium's `counters` and `moved_bytes`
    of the run.
    """
    numbers = rig.medium
    within_ns: float = time.run_ns
    dies = numbers.get("dies", 1)
    array_ns = sum(counters.get(f"flash_{work}_ns", 0) for work in ("read", "program", "erase")) / dies
    if "busy_ns" in counters:
        # The time in flight beyond the transfer; if transfers overlap with it, the work of the array
        medium_ns = max(counters["busy_ns"] - counters.get("link_ns", 0), min(array_ns, counters["busy_ns"]))
        bus_ns = counters.get("link_ns", 0) + moved_bytes / SECTOR_BYTES * rig.pio_sector_ns
    else:
        spare = 1 + numbers.get("spare_bytes", 0) / numbers["page_bytes"]
        cycle_ps = max(numbers["bus_ps_per_byte"], rig.nand_cycle_ps)
        medium_ns, bus_ns = array_ns, moved_bytes * spare * cycle_ps / 1e3
        if medium_ns + bus_ns > within_ns:
            # A raw chip does one thing at a time, so part of this work was before the run, as when JFFS2 checks its
            # data once after a mount. Then only the share of the whole measurement is known.
            within_ns = time.measured_ns
    return {
        "busy_cpu_percent": time.cpu_percent(),
        "busy_medium_percent": min(100.0, 100.0 * medium_ns / within_ns),
        "busy_bus_percent": min(100.0, 100.0 * bus_ns / within_ns),
    }


def platters(counters: Mapping[str, int], time: Time) -> dict[str, float]:
    """Return the share of the run for which a disk's only arm worked on the written data, until all of it was on the
    platters. `counters` cover the time from the beginning of `time` until then. More than 100 % means that the drive's
    write cache took the rest and wrote it later.
    """
    if not counters.get("host_written_bytes") or "disk_seek_ns" not in counters:
        return {}
    work = sum(counters[f"disk_{part}_ns"] for part in ("seek", "rotation", "transfer"))
    return {"platters_percent": 100.0 * work / time.run_ns}


def limit(metrics: Mapping[str, Any], direction: Direction, *, pio: bool, polls: bool = False) -> Limit:
    """Return what limited a repetition with these metrics; "" if they do not tell. With `pio` the CPU moves the data;
    if it `polls`, it is busy while the chip is. Neither is work of the CPU's own.
    """
    if is_swallowed(metrics, direction):
        return "memory"
    cpu, medium, bus = (metrics.get(f"busy_{part}_percent") for part in ("cpu", "medium", "bus"))
    if cpu is None or medium is None or bus is None:
        return ""
    if pio:
        cpu = max(0.0, cpu - bus)
    if polls:
        cpu = max(0.0, cpu - medium)
    if cpu >= BUSY_PERCENT:
        return "cpu"
    link = metrics.get("busy_link_percent", 0.0)
    if cpu + bus + medium + link < IDLE_BELOW_PERCENT:
        return "load"
    shares: list[tuple[float, Limit]] = [(medium, "medium"), (bus, "bus"), (cpu, "cpu"), (link, "link")]
    return max(shares, key=lambda share: share[0])[1]


def is_swallowed(metrics: Mapping[str, Any], direction: Direction) -> bool:
    """Return True if most of the requested bytes never reached the medium."""
    if REACHED_PERCENT in metrics:
        return float(metrics[REACHED_PERCENT]) < 100.0 * SWALLOWED_BELOW
    requested_bytes = metrics.get("requested_bytes", 0.0)
    if not requested_bytes or "medium_read_bytes" not in metrics or "medium_written_bytes" not in metrics:
        return False
    # The medium's counters include the warm-up. Its requested bytes are unknown: assume the same rate as in the run
    requested_bytes *= 1 + metrics.get("warm_up_s", 0.0) / (metrics.get("runtime_s") or 1.0)
    return (
        reached(requested_bytes, metrics["medium_read_bytes"], metrics["medium_written_bytes"], direction)
        < SWALLOWED_BELOW
    )


def reached(requested: float, read: float, written: float, direction: Direction) -> float:
    """Return the bytes that passed between board and medium per byte that the workload requested."""
    return {"read": read, "write": written, "either": read + written}[direction] / requested


def waits_for_memory(parameters: Mapping[str, Any], metrics: Mapping[str, float]) -> bool:
    """Return True if a writing pattern's requests ended in memory and most of the run was its final flush: the
    processes spent less than IN_CALLS of the run in requests.
    """
    buffered = not parameters.get("direct", False) and parameters.get("flush") == "fsync"
    if direction_of(parameters) != "write" or not buffered or not {"iops", "latency_mean_us"} <= metrics.keys():
        return False
    under_way = metrics["iops"] * metrics["latency_mean_us"] / 1e6
    return under_way < IN_CALLS * int(parameters.get("processes", 1))


def direction_of(parameters: Mapping[str, Any]) -> Direction:
    """Return the direction of a pattern's requests. A mixed pattern or a user's job may go either way."""
    pattern = str(parameters.get("pattern", ""))
    if pattern.endswith("read"):
        return "read"
    return "write" if pattern.endswith("write") else "either"
