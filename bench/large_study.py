# SPDX-License-Identifier: Apache-2.0
"""Measure what large studies cost on this host besides their guests: CPU seconds, and the most memory at a time.

    python -m bench.large_study [--repetitions N...] [--reports STUDY...]

The reports of shipped studies (default: choi2014) are written and opened, if the cache has all of their results. Then,
for each number of repetitions (default: 1,000 and 10,000), a study of reads and writes is planned, its results are put
into an empty store, and `flashbed run` reads them all and writes the report; the figures of the second number are also
printed as ratios to those of the first. All repetitions have the output of one that was measured, so that the page
packs well. Chromium, if there is one, opens each report three times; the least counts, without what an empty page
takes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from flashbed.common import paths
from flashbed.execution import run
from flashbed.image.stores import NotBuilt
from flashbed.result.store import open_store
from flashbed.study.loading import find_study, load_study

CELL = """
title  = "A cell of small files"
board  = "arm64-1000"
medium = "null-2g"
scheduler = "none"
filesystem = "ext2:block=4k"
seeds  = [9999]

[workload]
tool    = "fio"
pattern = "write"
request = "64k"
file    = "1M"
"""

STUDY = """
title  = "{count} repetitions"
board  = "arm64-1000"
medium = "null-2g"
scheduler = "none"
seeds  = {seeds}

[axes]
filesystem = ["fat32", "ext2:block=4k", "ext4", "f2fs", "exfat"]
pattern    = ["read", "write", "randread", "randwrite"]
request    = ["4k", "16k", "64k", "256k", "1M"]

[workload]
tool = "fio"
file = "1M"

[answer]
compare = "filesystem"
metric  = "bandwidth"
by      = ["pattern", "request"]
"""

CELLS = 5 * 4 * 5

IN_MEMORY = Path("/dev/shm")
"""Where the store is, if there is room. On a disk a result takes 0.1 s more: the store waits until it is written."""

ROOM_BYTES = 200 << 10
"""What a result takes there, at most."""

FLASHBED = Path(sys.executable).with_name("flashbed")


class Spent(NamedTuple):
    """What a step took: seconds, CPU seconds, and the most memory of one of its processes in MB."""

    seconds: float
    cpu_s: float
    memory_mb: float


def spent(work: Callable[[], object]) -> Spent:
    """Return what `work` takes in a process of its own, which prints why it fails. Raises RuntimeError then."""
    begin = time.monotonic()
    if not (child := os.fork()):
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError("a step failed; its message is above")
    return Spent(time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def command(folder: Path, *words: str | Path) -> Callable[[], object]:
    """Return a function that runs this command in the directory `folder`."""

    def start() -> None:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{words[0]} {words[1]}: {done.stderr[-2000:]}")

    return start


def fill(study: Path, first: Path) -> None:
    """Put a result for each repetition of `study` into the store: that of the study `first`, which is stored."""
    (measured,) = run.run(load_study(first)).records
    stored = open_store()
    files = {str(path.relative_to(measured.folder)): path for path in measured.folder.rglob("out/*") if path.is_file()}
    for wanted in run.prepare(load_study(study)):
        coordinates, seed = dict(wanted.cell.coordinates), wanted.cell.seed
        stored.put(replace(measured.result, key=wanted.key, coordinates=coordinates, seed=seed), files)


def steps(count: int, folder: Path) -> Mapping[str, Spent]:
    """Return what each step takes for a study of `count` repetitions in an empty directory."""
    study, first = folder / "large.toml", folder / "first.toml"
    study.write_text(STUDY.format(count=count, seeds=list(range(1, count // CELLS + 1))))
    first.write_text(CELL)
    spent(command(folder, FLASHBED, "run", first))
    return {
        "plan": spent(lambda: run.prepare(load_study(study))),
        "store": spent(lambda: fill(study, first)),
        "read, report": spent(command(folder, FLASHBED, "run", study)),
        "again": spent(command(folder, FLASHBED, "run", study)),
        **opened(folder / "reports/large/report.html"),
    }


def opened(page: Path) -> Mapping[str, Spent]:
    """Return what Chromium takes to open a report, without what an empty page takes; nothing if it is not installed."""
    print(f"{page.parent.name}: the report has {page.stat().st_size / 1e6:.2f} MB")
    if not (chromium := shutil.which("chromium")):
        return {}
    empty = page.with_name("empty.html")
    empty.write_text("<!doctype html><title>empty</title>")
    words = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    opens = [[spent(command(page.parent, chromium, *words, file.as_uri())) for _ in range(3)] for file in (page, empty)]
    whole, nothing = map(min, opens)  # the first ones also read Chromium from the disk
    return {"open": Spent(whole.seconds - nothing.seconds, whole.cpu_s - nothing.cpu_s, whole.memory_mb)}


def report_steps(name: str, folder: Path) -> Mapping[str, Spent]:
    """Return what the report of a shipped study takes whose results are stored."""
    written = spent(command(folder, FLASHBED, "run", name, "--out", folder / name))
    return {"report": written, **opened(folder / name / "report.html")}


def is_measured(name: str) -> bool:
    """Return whether the cache has all results of a shipped study."""
    study = load_study(find_study(name))
    try:
        return len(run.stored(study).records) == len(run.prepare(study, only_built=True))
    except NotBuilt:
        return False


def show(label: str, taken: Mapping[str, Spent], base: Mapping[str, Spent] | None = None) -> None:
    """Print what each step took, with `base` as a ratio to it."""
    print(f"{'study':>11} step           seconds   CPU s     MB")
    for step, now in taken.items():
        ratio = f"   {now.cpu_s / base[step].cpu_s:5.1f} times the CPU s" if base else ""
        print(f"{label:>11} {step:13} {now.seconds:8.2f} {now.cpu_s:7.2f} {now.memory_mb:6.0f}{ratio}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--repetitions", nargs="+", metavar="N", type=int, default=[1000, 10_000], help=f"multiples of {CELLS}"
    )
    parser.add_argument("--reports", nargs="*", metavar="STUDY", default=["choi2014"], help="shipped studies")
    options = parser.parse_args()
    base: Mapping[str, Spent] | None = None
    cache = paths.cache_root()
    for name in options.reports:
        with ProcessPoolExecutor(1) as other:  # what reads the results here would count as memory of each step
            measured = other.submit(is_measured, name).result()
        if not measured:
            print(f"{name}: not all of its results are stored: flashbed run {name}")
            continue
        with tempfile.TemporaryDirectory(prefix="large-study-") as folder:
            show(name, report_steps(name, Path(folder)))
    for count in options.repetitions:
        has_room = IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > count * ROOM_BYTES
        with tempfile.TemporaryDirectory(prefix="large-study-", dir=IN_MEMORY if has_room else None) as folder:
            for name in ("image", "debian-amd64", "debian-arm64"):
                (Path(folder) / name).symlink_to(cache / name)
            os.environ["FLASHBED_CACHE"] = folder
            taken = steps(count, Path(folder))
        show(f"{count:,}", taken, base)
        base = base or taken
    return 0


if __name__ == "__main__":
    sys.exit(main())
