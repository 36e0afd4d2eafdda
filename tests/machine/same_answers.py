# SPDX-License-Identifier: Apache-2.0
"""Runs a cell whose medium records its requests, replays them on the host from the same state, and compares every
answer and every byte of the state left behind.
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import NamedTuple

from flashbed.execution import repetition
from tests.support import guest_rig

RECORD = struct.Struct("<QQQQII")
"""LabRecord of emulator/lab-medium-notes.h."""

RECORDS = 200_000
READ, WRITE, DISCARD, FLUSH = range(4)
RWBS = {READ: "R", WRITE: "W", DISCARD: "D", FLUSH: "F"}


class Request(NamedTuple):
    now_ns: int
    done_ns: int
    offset_bytes: int
    length_bytes: int
    op: int
    fua: int

    def blkparse(self) -> str:
        seconds, ns = divmod(self.now_ns, 10**9)
        extent = "" if self.op == FLUSH else f" {self.offset_bytes // 512} + {self.length_bytes // 512}"
        return f"259,0 0 1 {seconds}.{ns:09} 1 D {RWBS[self.op]}{'F' * self.fua}{extent} [guest]\n"


def random_job(seed: int, size: int, discards: bool) -> str:
    """Return a fio job with phases of many kinds of requests on the second half of the device. The file system has the
    first half.
    """
    chance = random.Random(seed)
    sections = []
    for phase in range(4):
        patterns = ["randrw", "randwrite", "rw", "write", "randread"] + (["randtrim"] if discards else [])
        small, large = 4096, 4096 << chance.randrange(6)
        sections.append(f"""
[phase{phase}]
stonewall
filename=/dev/medium
offset={size // 2}
size={min(size // 4, chance.choice([1 << 20, 8 << 20, 64 << 20]))}
direct=1
ioengine=libaio
rw={patterns[0] if phase == 0 else chance.choice(patterns)}
bsrange={small}-{large}
iodepth={chance.choice([1, 2, 7, 32])}
numjobs={chance.choice([1, 3])}
number_ios=150
thinktime={chance.choice([0, 0, 300, 5000])}
fsync={chance.choice([0, 5])}
""")
    return "".join(sections)


NO_REST = """
cp /bin/medium /tmp/told
printf '%s\\n' '#!/bin/sh' '[ "$1" = rest ] || exec /tmp/told "$@"' >/tmp/medium
chmod +x /tmp/medium
mount -o bind /tmp/medium /bin/medium
"""
"""The medium does not rest before the measurement: what it then does by itself is no request, and in no trace."""


def check(study: Path, folder: Path) -> int:
    """Compare the requests of a guest with a replay, and return their number. Raise AssertionError if one differs."""
    rig = guest_rig.new(study, folder)
    fresh, trace, completions, saved = (folder / name for name in ("fresh.bin", "trace", "completions", "saved.bin"))
    fresh.write_bytes(rig.files.state.read_bytes())
    made = repetition.job(rig.cell, rig.planned.image).beginning["format"].decode()
    outcome = guest_rig.boot(rig, medium_options=f"record={RECORDS}", format=f"{made}\n{NO_REST}")
    requests = [Request(*fields) for fields in RECORD.iter_unpack(outcome.files["requests.bin"])]
    counters = rig.tool.inspect(rig.files.state).counters
    assert len(requests) == sum(counters[f"host_{op}"] for op in ("reads", "writes", "discards", "flushes")) < RECORDS
    assert len(requests) > 500, len(requests)

    trace.write_text("".join(request.blkparse() for request in requests))
    rig.tool.replay(fresh, "--completions", completions, "--save", saved, trace)
    answers = [tuple(map(int, line.split())) for line in completions.read_text().splitlines()]
    assert answers == [(request.now_ns, request.done_ns) for request in requests]
    assert saved.read_bytes() == rig.files.state.read_bytes()
    return len(requests)
