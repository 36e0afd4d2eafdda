# SPDX-License-Identifier: Apache-2.0
"""What fio's processes had moved at each moment, from what a run leaves behind: the series by which its rate is judged.

Where a request lasts until the medium has done it, fio's own logs tell: of the bytes in each interval of time
(write_bw_log), or of each call, where those are logged anyway. A write into the page cache is done before the medium
has seen it. There the guest notes what the block device has taken (guest/progress); where there is no block device,
nothing tells.

The series is of all of the time whose rate is told. Of a cached write that begins with a phase in which memory fills
and the device takes nothing, or is busy with a first request. It is as long in a long run as in a short one. Where it
is more than 1/11 of the run, the halves are more than a fifth apart, and the rate is not steady: a longer run, of which
it were a smaller part, would have another.

Must not know jobs, nor when a rate is steady.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from math import fsum

from flashbed.guest_output import cpu_load
from flashbed.guest_output.medium_counters import BLOCK_MEASURED, SECTOR_BYTES, SECTORS_WRITTEN
from flashbed.workload.base import PROGRESS_NOTES, WorkloadOutputError
from flashbed.workload.fio import latency
from flashbed.workload.fio.jobs import RATE_LOG

Moments = list[tuple[float, float]]
"""(seconds, bytes so far), in order."""

ENOUGH_LEFT = 0.9
"""Of what a late first line would have more, if it were of all the time before it: fio's rates are whole KiB/s."""


def rate_logs(out: Mapping[str, bytes]) -> list[bytes]:
    """The logs of bandwidth, a process each, in fio's order of processes."""
    names = [name for name in out if name.startswith(f"{RATE_LOG}_bw.")]
    return [out[name] for name in sorted(names, key=lambda name: int(name.split(".")[1]))]


def of_rates(logs: Iterable[bytes], interval_ms: int, runtime_s: float, moved_bytes: float) -> Moments:
    """From logs of bandwidth of processes that began together and moved so much in all.

    A line is the end of an interval in ms, and KiB/s in it; an interval in which nothing was done has none, and fio
    writes none of the last, which the run cuts short: it has what the others leave. A first line that comes late may
    be of an interval that was as long, or of the last part of it after nothing was done: the former, if as much is
    left over. Format: fio's documentation, "Log File Formats".
    """
    moved: dict[float, float] = {}
    begins: dict[float, float] = {}
    late: list[tuple[float, float]] = []
    for log in logs:
        before_ms = 0
        for line in log.decode(errors="replace").splitlines():
            words = line.split(",")
            if len(words) < 2 or not words[0].isdecimal() or not words[1].strip().isdecimal():
                raise WorkloadOutputError(f"a log of fio's bandwidth has a line that is none: {line[:80]}")
            at_ms = int(words[0])
            # A longer way from the line before is intervals without a line between
            length_ms = at_ms - before_ms if at_ms - before_ms < 2 * interval_ms else interval_ms
            at_s = min(at_ms / 1e3, runtime_s)
            moved[at_s] = moved.get(at_s, 0.0) + int(words[1]) * 1024 * length_ms / 1e3
            begins[at_s] = (at_ms - length_ms) / 1e3
            if not before_ms and begins[at_s]:
                late.append((at_s, int(words[1]) * 1024 * begins[at_s]))
            before_ms = at_ms
    for at_s, more in late:
        if moved_bytes - fsum(moved.values()) > ENOUGH_LEFT * more:
            moved[at_s] += more
            begins[at_s] = 0.0
    found: Moments = [(0.0, 0.0)]
    so_far = 0.0
    for end in sorted(moved):
        if found[-1][0] < begins[end] < end:
            found.append((begins[end], so_far))
        so_far += moved[end]
        if end > found[-1][0]:
            found.append((end, so_far))
    if moved and found[-1][0] < runtime_s:
        found.append((runtime_s, max(so_far, moved_bytes)))
    return found


def of_calls(logs: Iterable[bytes]) -> Moments:
    """From logs of calls in which each write is flushed: a write counts when the flush behind it has returned. A line
    is the moment of a call in us; a call returns, nearly, when the next one is made.
    """
    steps: list[tuple[float, float]] = []
    begun: list[float] = []
    for log in logs:
        written, flushing = 0.0, False
        calls = latency.call_lines(log)
        begun += [at / 1e6 for at, action, _ in calls if action == "write"][:1]
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
    return [(min(begun), 0.0), *((at, count) for (at, _), count in zip(steps, counts, strict=True))]


def of_progress(out: Mapping[str, bytes], runtime_s: float) -> Moments:
    """From what the guest noted of its block device: what it had taken at each moment of a run that took `runtime_s`,
    the flush at its end included. Empty where nothing was noted.

    No note tells when the run began. It ended when the guest says that the measurement has (cpu_load.py), less some
    50 ms in which fio prints; from there it is counted back. Where nothing flushes, the device has taken less than was
    written by then, and so the halves' mean is below the rate that fio tells.
    """
    lines = [line.split() for line in out.get(PROGRESS_NOTES, b"").decode().splitlines()]
    notes = [(float(words[0]), float(words[2]) * SECTOR_BYTES) for words in lines if len(words) > 2]
    if not notes or BLOCK_MEASURED not in out or cpu_load.MEASURED not in out:
        return []
    end_s = cpu_load.window_ns(out)[1] / 1e9
    everything = float(out[BLOCK_MEASURED].split()[SECTORS_WRITTEN]) * SECTOR_BYTES
    begin_s = end_s - runtime_s
    before = [count for at, count in notes if at <= begin_s] or [notes[0][1]]
    during = [(at, count) for at, count in notes if begin_s < at < end_s]
    return [(begin_s, before[-1]), *during, (end_s, everything)]
