#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""How many requests a second flashbed-replay handles on this host, the program's start and end included.

replay_bench.py FLASHBED-REPLAY
"""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPLAY = sys.argv[1]
REQUESTS = 1 << 21


def words(text):
    return text.split()


NULL = words("kind=null capacity_bytes=8589934592 queue_depth=1 command_ns=0")
FLASH = words(
    "kind=flash capacity_bytes=8589934592 queue_depth=32 command_ns=10000 link_ps_per_byte=2500 page_bytes=4096 "
    "pages_per_block=128 blocks_per_die=4400 dies=4 channels=4 read_ns=25000 program_ns=220000 erase_ns=1500000 "
    "bus_ps_per_byte=25000 gc_reserve_blocks=4"
)


def measure(what, *arguments):
    begin = time.monotonic()
    subprocess.run([REPLAY, "--json", *arguments], stdout=subprocess.DEVNULL, check=True)
    print(f"  {what:52} {REQUESTS / (time.monotonic() - begin):10.0f} requests/s")


print("flashbed-replay, from start to end of the program")
with tempfile.TemporaryDirectory() as folder:
    chance = random.Random(1)
    log = Path(folder) / "trace.log"
    with log.open("w") as file:
        file.write("fio version 3 iolog\n0 /dev/sda add\n")
        for i in range(REQUESTS):
            file.write(f"{i} /dev/sda write {chance.randrange(REQUESTS) * 4096} 4096\n")
    measure("iolog read, medium without time", log, *NULL)
    measure("iolog read, 4 KiB random writes on flash", log, *FLASH)
    pattern = ["--request-bytes", "4096", "--pattern"]
    measure("made-up trace, 4 KiB writes in order on flash", *pattern, "sequential", *FLASH)
    measure("made-up trace, 4 KiB random writes on flash", *pattern, "random", *FLASH)
