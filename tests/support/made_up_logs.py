# SPDX-License-Identifier: Apache-2.0
"""Made-up logs of requests, in a guest's format."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from flashbed.guest_output import request_log
from flashbed.guest_output.request_log import RequestLog


def write_made_up_log(out: Path, requests: Sequence[tuple[int, int, int, int]], began_ns: int, ended_ns: int) -> None:
    """Write a guest's log of requests. Each is (time in ns, operation, offset, length) and takes 100 us."""
    out.mkdir(parents=True, exist_ok=True)
    entries = [struct.pack("<4Q2I", at, at + 100_000, offset, length, op, 0) for at, op, offset, length in requests]
    (out / "requests.bin").write_bytes(b"".join(entries))
    for moment, now in (("before", began_ns), ("measured", ended_ns)):
        lines = f"now at {now} nsecs\n.idle_sleeptime : 0 nsecs\n.iowait_sleeptime: 0 nsecs\n"
        (out / f"idle.{moment}").write_text(lines)


def logs_in(folders: Mapping[str, Path]) -> dict[str, Callable[[], RequestLog]]:
    """Return a reader of the logs of repetitions, whose directories are given by key."""
    return {key: partial(request_log.read, folder / "out") for key, folder in folders.items()}
