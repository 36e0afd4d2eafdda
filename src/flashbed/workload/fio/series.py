# SPDX-License-Identifier: Apache-2.0
"""Compute fio's progress over time from its output. The rate is judged by this series.

If a request lasts until the medium has done it, the series comes from fio's own logs: of bytes per interval
(write_bw_log), or of each call if calls are logged. A write into the page cache completes before the medium has seen
it. Then the guest logs what the block device has written (guest/progress). Without a block device, there is no series.

The series covers the whole time of the reported rate. With cached writes it begins with a phase in which memory fills
while the device writes nothing, or is busy with a first request. That phase is as long in a long run as in a short one.
If it is more than 1/11 of the run, the halves differ by more than a fifth, and the rate is not steady: a longer run, in
which the phase has a smaller share, would have another rate.

Must not know jobs, nor when a rate is steady.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from math import fsum

from flashbed.common.units import SECTOR_BYTES
from flashbed.guest_output import cpu_load
from flashbed.guest_output.medium_counters import BLOCK_MEASURED, SECTORS_WRITTEN
from flashbed.workload.base import PROGRESS_NOTES, WorkloadOutputError
from flashbed.workload.fio import latency
from flashbed.workload.fio.jobs import RATE_LOG

Moments = list[tuple[float, float]]
"""Pairs of seconds and bytes so far, in order."""

ENOUGH_LEFT = 0.9
"""The share that must remain for a late first line to cover all the time before it. fio rounds rates to whole KiB/s."""


def rate_logs(out: Mapping[str, bytes]) -> list[bytes]:
    """Return the bandwidth logs, one per process, in fio's order of processes."""
    names = [name for name in out if name.startswith(f"{RATE_LOG}_bw.")]
    return [out[name] for name in sorted(names, key=lambda name: int(name.split(".")[1]))]


def of_rates(logs: Iterable[bytes], interval_ms: int, runtime_s: float, moved_bytes: float) -> Moments:
    """Return the progress from bandwidth logs of processes that began together and moved `moved_bytes` in all.

    A line has the end of an interval in ms and its KiB/s. fio writes no line for an interval without I/O, nor for the
    last interval, which the run cuts short: that has the remaining bytes. A late first line may cover a whole interval
    of that length, or its last part after idle time; it covers the whole if enough bytes remain. Format: fio's
    documentation, "Log File Formats". Raises WorkloadOutputError.
    """
    moved: dict[float, float] = {}
    begins: dict[float, float] = {}
    late: list[tuple[float, float]] = []
    for log in logs:
        before_ms = 0
        for line in log.decode(errors="replace").splitlines():
            fields = line.split(",")
            if len(fields) < 2 or not fields[0].isdecimal() or not fields[1].strip().isdecimal():
                raise WorkloadOutputError(f"a log of fio's bandwidth has a line of another form: {line[:80]}")
            at_ms = int(fields[0])
            # A longer gap after the previous line is intervals without I/O
            length_ms = at_ms - before_ms if at_ms - before_ms < 2 * interval_ms else interval_ms
            at_s = min(at_ms / 1e3, runtime_s)
            moved[at_s] = moved.get(at_s, 0.0) + int(fields[1]) * 1024 * length_ms / 1e3
            begins[at_s] = (at_ms - length_ms) / 1e3
            if not before_ms and begins[at_s]:
                late.append((at_s, int(fields[1]) * 1024 * begins[at_s]))
            before_ms = at_ms
    for at_s, more in late:
        if moved_bytes - fsum(moved.values()) > ENOUGH_LEFT * more:
            moved[at_s] += more
            begins[at_s] = 0.0
    progress: Moments = [(0.0, 0.0)]
    so_far = 0.0
    for end in sorted(moved):
        if progress[-1][0] < begins[end] < end:
            progress.append((begins[end], so_far))
        so_far += moved[end]
        if end > progress[-1][0]:
            progress.append((end, so_far))
    if moved and progress[-1][0] < runtime_s:
        progress.append((runtime_s, max(so_far, moved_bytes)))
    return progress


def of_calls(logs: Iterable[bytes]) -> Moments:
    """Return the progress from logs of calls in which each write is flushed: a write counts when its flush has
    returned. A line has the time of a call in us. A call returns about when the next call is made.
    """
    steps: list[tuple[float, float]] = []
    starts: list[float] = []
    for log in logs:
        written, flushing = 0.0, False
        calls = latency.call_lines(log)
        starts += [at / 1e6 for at, action, _ in calls if action == "write"][:1]
        for at, action, length in calls:
            if flushing:
                steps.append((at / 1e6, written))
                written = 0.0
            flushing = action == "sync" and written > 0
            if action == "write":
                written += length
    steps.sort()
    if not steps:
        return []
    counts = accumulate(size for _, size in steps)
    return [(min(starts), 0.0), *((at, count) for (at, _), count in zip(steps, counts, strict=True))]


def of_progress(out: Mapping[str, bytes], runtime_s: float) -> Moments:
    """Return the progress from the guest's log of its block device, for a run of `runtime_s` seconds with its final
    flush. [] if there is no log.

    The log does not say when the run began. It ended when the guest says that the measurement ended (cpu_load.py), less
    about 50 ms in which fio prints; the begin is counted back from there. Without a flush, the device has written less
    than the program, so the halves' mean is below the rate that fio reports.
    """
    lines = [line.split() for line in out.get(PROGRESS_NOTES, b"").decode().splitlines()]
    notes = [(float(fields[0]), float(fields[2]) * SECTOR_BYTES) for fields in lines if len(fields) > 2]
    if not notes or BLOCK_MEASURED not in out or cpu_load.IDLE_MEASURED not in out:
        return []
    end_s = cpu_load.window_ns(out)[1] / 1e9
    everything = float(out[BLOCK_MEASURED].split()[SECTORS_WRITTEN]) * SECTOR_BYTES
    begin_s = end_s - runtime_s
    before = [count for at, count in notes if at <= begin_s] or [notes[0][1]]
    during = [(at, count) for at, count in notes if begin_s < at < end_s]
    return [(begin_s, before[-1]), *during, (end_s, everything)]
