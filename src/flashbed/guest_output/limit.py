# SPDX-License-Identifier: Apache-2.0
"""What a measurement is a measurement of: the medium, the bus to it, the CPU, memory, a link, or the load itself.

Each has a share of the time for which the load ran: the CPU by its idle time (cpu_load.py), and of several CPUs the
busiest, for one that is always busy may be what a load waits for beside any number of idle ones; the medium by the
time in which it had a request under way that was not merely being transferred; the bus by what was transferred and what
a byte takes; the link between a server and its load, where there is one, by its frames. With PIO the CPU is busy while
it moves data: that counts as the bus's. Around the load the tool starts, and waits for its threads in steps; for how
long the CPU was idle then is not known, so that its share is the least that it can have been.

Where things are done one after another, the largest share is what one would have to make faster. Where they overlap, a
medium that always has a request under way may still wait for the CPU: a CPU that is busy for BUSY_PERCENT of the time
is the limit whatever else is busy, for with a medium that takes no time at all the same load would be at most 1.25
times as fast. Must not know who did the work, nor how it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from flashbed.guest_output import cpu_load, medium_counters

Direction = Literal["read", "write", "either"]
Limit = Literal["medium", "bus", "cpu", "memory", "link", "load", ""]

BUSY_PERCENT = 80.0
"""From here on a CPU leaves next to nothing to wait for."""

IDLE_BELOW_PERCENT = 50.0
"""Where CPU, bus, medium and link together are busy for less, they wait for the load."""

SWALLOWED_BELOW = 0.5
"""The share of the bytes asked for that must reach the medium, for a cell to be said to measure the medium."""

REACHED_PERCENT = "reached_percent"
"""The metric of a tool with phases: of what all of them asked for, what the medium moved in their direction. Its
counters also have what comes in between, such as the scan of a mount.
"""

IN_CALLS = 0.5
"""Of its run a process must be in requests, for their latency to say what it waits for."""

PARTS = ("cpu", "medium", "bus")
"""What may be at work, as in the metrics' names."""


@dataclass(frozen=True)
class Rig:
    """What of a cell's medium and board the shares hang on: the medium's parameters, the ns in which the board's CPU
    moves a sector (0 with DMA), the ps of its raw-chip controller's cycle.
    """

    medium: Mapping[str, int]
    pio_sector_ns: int
    nand_cycle_ps: int


@dataclass(frozen=True)
class Time:
    """A measurement, and the run of the load within it, as far as the tool tells. Where it notes when its load began
    and ended, that is the measurement.
    """

    measured_ns: int
    cpu_ns: int
    """CPU time in the whole measurement, of the busiest CPU."""
    run_ns: float
    process_cpu_percent: float
    """What the tool's processes took of the run, by CPU: on four CPUs, a quarter of what all took."""
    known_percent: float | None = None
    """The share of the run for which the CPUs of the load were busy, where the tool tells it."""

    def cpu_percent(self) -> float:
        """The least share of the run for which the CPU was busy, where it is not known."""
        if self.known_percent is not None:
            return self.known_percent
        around_ns = self.measured_ns - self.run_ns
        return min(100.0, max(self.process_cpu_percent, 100.0 * (self.cpu_ns - around_ns) / self.run_ns))


def time_of(out: Mapping[str, bytes], metrics: Mapping[str, float], window: cpu_load.Window | None = None) -> Time:
    """From what the guest noted, and the metrics of the tool; of the load, where CPUs and medium were noted when it
    began and ended, if no window is given. Raises KeyError or ValueError.
    """
    if window is None:
        # Results of before have the CPUs of the load, and the medium of the measurement
        both = cpu_load.notes_load(out) and medium_counters.marks_load(out)
        window = cpu_load.LOAD if both else cpu_load.MEASUREMENT
    measured_ns = cpu_load.length_ns(out, window)
    run_s = metrics.get("runtime_s", 0.0) + metrics.get("warm_up_s", 0.0)  # the counters know no difference
    run_ns = min(run_s * 1e9 or measured_ns, measured_ns)
    busy_ns = cpu_load.each_busy_ns(out, window)
    of_processes = metrics.get("process_cpu_percent", 0.0) / len(busy_ns)
    return Time(measured_ns, max(busy_ns), run_ns, of_processes, metrics.get("busy_cpu_percent"))


def percents(rig: Rig, counters: Mapping[str, int], moved_bytes: float, time: Time) -> dict[str, float]:
    """The shares of the run in which CPU, medium and bus were at work; `counters` and `moved_bytes` are what the medium
    did and moved in it.
    """
    numbers = rig.medium
    within_ns: float = time.run_ns
    dies = numbers.get("dies", 1)
    array_ns = sum(counters.get(f"flash_{work}_ns", 0) for work in ("read", "program", "erase")) / dies
    if "busy_ns" in counters:
        # What is under way beyond its transfer; or, where transfers overlap with it, the work of the array
        medium_ns = max(counters["busy_ns"] - counters.get("link_ns", 0), min(array_ns, counters["busy_ns"]))
        bus_ns = counters.get("link_ns", 0) + moved_bytes / medium_counters.SECTOR_BYTES * rig.pio_sector_ns
    else:
        spare = 1 + numbers.get("spare_bytes", 0) / numbers["page_bytes"]
        cycle_ps = max(numbers["bus_ps_per_byte"], rig.nand_cycle_ps)
        medium_ns, bus_ns = array_ns, moved_bytes * spare * cycle_ps / 1e3
        if medium_ns + bus_ns > within_ns:
            # A raw chip does one thing at a time, so part of it was done before the run, as when JFFS2 checks its data
            # once after a mount: then only the share of the whole measurement is known.
            within_ns = time.measured_ns
    return {
        "busy_cpu_percent": time.cpu_percent(),
        "busy_medium_percent": min(100.0, 100.0 * medium_ns / within_ns),
        "busy_bus_percent": min(100.0, 100.0 * bus_ns / within_ns),
    }


def platters(counters: Mapping[str, int], time: Time) -> dict[str, float]:
    """For how much of the run a disk's one arm was at work on what was written, until all of it was on the platters;
    `counters` are from the beginning of `time` until then. More than all of the run means that the drive's write cache
    took the rest in, and wrote it later.
    """
    if not counters.get("host_written_bytes") or "disk_seek_ns" not in counters:
        return {}
    work = sum(counters[f"disk_{part}_ns"] for part in ("seek", "rotation", "transfer"))
    return {"platters_percent": 100.0 * work / time.run_ns}


def limit(metrics: Mapping[str, Any], direction: Direction, *, pio: bool, polls: bool = False) -> Limit:
    """What limited a repetition with these metrics; "" where they do not tell. With `pio` the CPU moves the data, and
    where it `polls` it is busy while the chip is: neither is work of its own.
    """
    cpu, medium, bus = (metrics.get(f"busy_{part}_percent") for part in PARTS)
    if cpu is None or medium is None or bus is None:
        return ""
    if is_swallowed(metrics, direction):
        return "memory"
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
    """Whether most of the bytes asked for never reached the medium."""
    if REACHED_PERCENT in metrics:
        return float(metrics[REACHED_PERCENT]) < 100.0 * SWALLOWED_BELOW
    asked = metrics.get("requested_bytes", 0.0)
    if not asked or "medium_read_bytes" not in metrics or "medium_written_bytes" not in metrics:
        return False
    # The medium's counters have the warm-up too. What was asked for in it is not told: as much as later, in its time
    asked *= 1 + metrics.get("warm_up_s", 0.0) / (metrics.get("runtime_s") or 1.0)
    return reached(asked, metrics["medium_read_bytes"], metrics["medium_written_bytes"], direction) < SWALLOWED_BELOW


def reached(requested: float, read: float, written: float, direction: Direction) -> float:
    """What passed between the board and the medium for each byte that the workload asked for."""
    return {"read": read, "write": written, "either": read + written}[direction] / requested


def waits_for_memory(parameters: Mapping[str, Any], metrics: Mapping[str, float]) -> bool:
    """True if the requests of a pattern that writes ended in memory, and most of the run was the flush at its end: the
    processes spent less than IN_CALLS of it in requests.
    """
    buffered = str(parameters.get("direct", "false")) == "false" and parameters.get("flush") == "fsync"
    if direction_of(parameters) != "write" or not buffered or not {"iops", "latency_mean_us"} <= metrics.keys():
        return False
    under_way = metrics["iops"] * metrics["latency_mean_us"] / 1e6
    return under_way < IN_CALLS * int(str(parameters.get("processes", "1")))


def direction_of(parameters: Mapping[str, Any]) -> Direction:
    """Which way the requests go, where a pattern tells; a mixed pattern or a job of the user's may go either way."""
    pattern = str(parameters.get("pattern", ""))
    if pattern.endswith("read"):
        return "read"
    return "write" if pattern.endswith("write") else "either"
