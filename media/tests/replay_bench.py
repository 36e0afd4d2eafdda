#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Measure how many requests flashbed-replay handles per second of CPU time on this host, the program's start and end
included.

The last column compares with a replay of the same file on a medium that answers at once, which is the cost of reading
the file. Then valgrind counts the instructions per request in the core, on media from 1 GiB to 1 TiB. Any further cost
of a medium's size is from the host's caches.

replay_bench.py FLASHBED-REPLAY [tiny]
"""

from __future__ import annotations

import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPLAY = sys.argv[1]
TINY = sys.argv[2:] == ["tiny"]
REQUESTS = 1 << (10 if TINY else 21)
RUNS = 1 if TINY else 3
COUNTED = 1 << (8 if TINY else 14)
SIZES = {"1 GiB": 1 << 30} if TINY else {"1 GiB": 1 << 30, "32 GiB": 1 << 35, "1 TiB": 1 << 40}


def words(text: str) -> list[str]:
    return text.split()


NULL = words("kind=null capacity_bytes=8589934592 queue_depth=1 command_ns=0")
FLASH = words(
    "kind=flash capacity_bytes=8589934592 queue_depth=32 command_ns=10000 link_ps_per_byte=2500 page_bytes=4096 "
    "pages_per_block=128 blocks_per_die=4400 dies=4 channels=4 read_ns=25000 program_ns=220000 erase_ns=1500000 "
    "bus_ps_per_byte=25000 gc_reserve_blocks=4"
)


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def once(*arguments: str | Path) -> float:
    begin = children_seconds()
    subprocess.run([REPLAY, "--json", *arguments], stdout=subprocess.DEVNULL, check=True)
    return children_seconds() - begin


def measure(name: str, *arguments: str | Path, compared_with: float | None = None) -> float:
    """Print the rate, and return the shortest CPU time of some runs: other load of the host only makes runs longer."""
    took = min(once(*arguments) for _ in range(RUNS))
    times = took / (compared_with or took)
    print(f"  {name:48} {REQUESTS / took / 1e6:6.2f} million/s {times:6.2f}")
    return took


def of_size(capacity: int) -> list[str]:
    """Return FLASH with this capacity in bytes and 28 % of over-provisioning, so that there is no garbage
    collection.
    """
    blocks = capacity * 128 // 100 // (4096 * 256 * 4)
    changed = {"capacity_bytes": capacity, "pages_per_block": 256, "blocks_per_die": blocks}
    return [word if (key := word.split("=")[0]) not in changed else f"{key}={changed[key]}" for word in FLASH]


def write_mixed_trace(path: Path, capacity: int) -> None:
    """Write a trace of random pages: each is written for the first time, read, and written again."""
    chance = random.Random(1)
    pages = [chance.randrange(capacity // 4096) for _ in range(COUNTED)]
    lines = [f"0 a {op} {page * 4096} 4096\n" for op in ("write", "read", "write") for page in pages]
    path.write_text("fio version 3 iolog\n0 a add\n" + "".join(lines))


def instructions(folder: str, capacity: int) -> float:
    """Return the instructions per request in fb_submit() and its callees."""
    log = Path(folder) / "mixed.log"
    write_mixed_trace(log, capacity)
    counting = ["valgrind", "--tool=callgrind", "--toggle-collect=fb_submit", f"--callgrind-out-file={folder}/counts"]
    run = subprocess.run([*counting, REPLAY, str(log), *of_size(capacity)], capture_output=True, text=True, check=True)
    return int(re.findall(r"Collected : (\d+)", run.stderr)[0]) / (3 * COUNTED)


def compare_sizes(folder: str) -> None:
    if not shutil.which("valgrind"):
        print("  valgrind is not there to count instructions")
        return
    counts = {name: instructions(folder, capacity) for name, capacity in SIZES.items()}
    first = next(iter(counts.values()))
    for name, count in counts.items():
        print(f"  instructions of a request at random, {name:<11} {count:6.0f} {count / first:16.2f}")


print("flashbed-replay, from start to end of the program, CPU time")
with tempfile.TemporaryDirectory() as folder:
    chance = random.Random(1)
    log = Path(folder) / "trace.log"
    with log.open("w") as file:
        file.write("fio version 3 iolog\n0 /dev/sda add\n")
        for i in range(REQUESTS):
            file.write(f"{i} /dev/sda write {chance.randrange(REQUESTS) * 4096} 4096\n")
    reading = measure("iolog read, medium without time", log, *NULL)
    measure("iolog read, 4 KiB random writes on flash", log, *FLASH, compared_with=reading)
    pattern = ["--request-bytes", "4096", "--pattern"]
    measure("made-up trace, 4 KiB writes in order on flash", *pattern, "sequential", *FLASH, compared_with=reading)
    measure("made-up trace, 4 KiB random writes on flash", *pattern, "random", *FLASH, compared_with=reading)
    compare_sizes(folder)
