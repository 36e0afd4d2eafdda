# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Call flashbed-replay, for its tests: the media, and traces in its two formats."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPLAY, FBMEDIA = sys.argv[1:]
FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)


def words(text: str) -> list[str]:
    return text.split()


NULL = ["kind=null", "capacity_bytes=1048576", "queue_depth=2", "command_ns=1000"]
FLASH = words(
    "kind=flash capacity_bytes=65536 queue_depth=1 command_ns=1000 link_ps_per_byte=0 page_bytes=2048 "
    "pages_per_block=4 blocks_per_die=16 dies=1 channels=1 read_ns=25000 program_ns=200000 erase_ns=1500000 "
    "bus_ps_per_byte=0 gc_reserve_blocks=2"
)
# A revolution takes 10 ms, a sector 100 us; no command or link time, no read-ahead
DISK = words(
    "kind=disk capacity_bytes=1638400 queue_depth=1 command_ns=0 link_ps_per_byte=0 rpm=6000 cylinders=64 heads=1 "
    "zones=1 outer_sectors_per_track=100 inner_sectors_per_track=100 seek_track_ns=1000000 seek_average_ns=4000000 "
    "seek_full_ns=8000000 head_switch_ns=500000 write_settle_ns=200000 segment_bytes=0 readahead_bytes=0"
)


def run(*arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([REPLAY, *map(str, arguments)], input=stdin, capture_output=True, text=True)


def replay(*arguments: object, stdin: str | None = None) -> Any:
    done = run("--json", *arguments, stdin=stdin)
    assert done.returncode == 0, (arguments, done.stderr)
    return json.loads(done.stdout)


def completions(*arguments: object, stdin: str | None = None) -> list[tuple[int, ...]]:
    file = HERE / "completions"
    replay("--completions", file, *arguments, stdin=stdin)
    return [tuple(map(int, line.split())) for line in file.read_text().splitlines()]


def refused(words: str, *arguments: object, stdin: str | None = None, status: int = 1) -> None:
    done = run(*arguments, stdin=stdin)
    assert done.returncode == status, (arguments, done)
    assert words in done.stderr, (words, done.stderr)


def iolog(version: int, *lines: str) -> str:
    return "\n".join((f"fio version {version} iolog", *lines)) + "\n"


def blkparse(*events: tuple[str, str, str]) -> str:
    return "".join(
        f"  8,0    1 {i:8} {time:>14} 4711 {action:>2} {rest}\n" for i, (time, action, rest) in enumerate(events)
    )
