# SPDX-License-Identifier: Apache-2.0
"""Import blkparse's text: requests to a block device become calls with direct I/O on one file.

The format is blkparse's default (blkparse(1), "Default event formats"):

    MAJOR,MINOR CPU SEQUENCE SECONDS.NANOSECONDS PID ACTION RWBS SECTOR + SECTORS [PROCESS]

A request begins when it is issued to the driver (D) and ends when it is complete (C); a sector has 512 bytes. As many
threads replay it as requests were pending at a time. To put such a trace to a medium without a kernel and a file
system, flashbed-replay reads the same text (media/host/blkparse.c). Python has no library for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from flashbed.common.units import SECTOR_BYTES
from flashbed.traces import recording
from flashbed.traces.call_trace import LARGEST_LENGTH, TraceError
from flashbed.traces.recording import FileNames, Imported, Observed, OpenFile

DEVICE_FILE = "/device"
"""The file that stands for the device."""

EVENT = re.compile(
    r" *([0-9]+,[0-9]+) +[0-9]+ +[0-9]+ +([0-9]+)\.([0-9]{9}) +[0-9]+ +([A-Z]+) +([A-Z]+)(?: +([0-9]+) \+ ([0-9]+))?.*"
)


@dataclass(frozen=True)
class _Request:
    begin_us: int
    kind: str
    """RWBS of blkparse: R, W or D (discard), F for flushes, and other letters."""
    sector: int
    sectors: int


def imported(text: str, file: str) -> Imported:
    """Return the trace of blkparse's text; `file` is its name in messages. Raises InputError with file and line."""
    pending: dict[tuple[int, int], list[_Request]] = {}
    done: list[tuple[_Request, int]] = []
    device = ""
    for number, line in enumerate(text.splitlines(), 1):
        match = EVENT.fullmatch(line)
        if match is None:
            if device and re.match(
                r"CPU[0-9]+ \(|Total|Throughput|Events|Skips|Reads|Writes|Read |IO unplugs|$| ", line
            ):
                continue  # the summary at the end
            raise TraceError(f"{file}:{number}: the line is not an event in blkparse's default format: {line[:80]}")
        if device and match[1] != device:
            raise TraceError(f"{file}:{number}: a trace is about one device, and this line is about {match[1]}")
        device = match[1]
        at_us = int(match[2]) * 1_000_000 + int(match[3]) // 1000
        sector, sectors = int(match[6] or 0), int(match[7] or 0)
        if match[4] == "D":
            if sectors * SECTOR_BYTES > LARGEST_LENGTH and "D" not in match[5]:
                raise TraceError(f"{file}:{number}: the request has {sectors} sectors, more than a call can move")
            pending.setdefault((sector, sectors), []).append(_Request(at_us, match[5], sector, sectors))
        elif match[4] == "C" and pending.get((sector, sectors)):
            done.append((pending[sector, sectors].pop(0), at_us))
    left = [request for requests in pending.values() for request in requests]
    done += [(request, request.begin_us) for request in left]
    if not done:
        raise TraceError(f"{file}: no request was issued (no line with the action D)")
    made = _made(done)
    if left:
        made.remarks.append(f"{len(left)} requests without a completion (C): they are taken to last no time")
    return made


def _made(done: list[tuple[_Request, int]]) -> Imported:
    """Return the trace of requests, each with its end."""
    done.sort(key=lambda pair: (pair[0].begin_us, pair[1]))
    names = FileNames()
    size = SECTOR_BYTES * max(request.sector + request.sectors for request, _ in done)
    node = names.exists(DEVICE_FILE)
    node.has_bytes(size)
    device = OpenFile(DEVICE_FILE, node)
    start_us = done[0][0].begin_us
    observed = [Observed(0, start_us, 0, "open", (device, DEVICE_FILE, "O_RDWR|O_DIRECT", 0), 0)]
    for number, (request, end_us) in enumerate(done):
        offset, length = request.sector * SECTOR_BYTES, request.sectors * SECTOR_BYTES
        times = (request.begin_us, max(0, end_us - request.begin_us))
        if length and "D" in request.kind:
            observed.append(Observed(number, *times, "fallocate", (device, 3, offset, length), 0))
        elif length:
            name = "pread" if "R" in request.kind else "pwrite"
            observed.append(Observed(number, *times, name, (device, offset, length), length))
        if "F" in request.kind:
            observed.append(Observed(number, *times, "fdatasync", (device,), 0))
    made = recording.made(observed, names, "/")
    made.below = ""
    return made
