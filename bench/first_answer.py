# SPDX-License-Identifier: Apache-2.0
"""Measure the time from a fresh clone to the first report on this host: `make run` with an empty cache, by stage.

    python -m bench.first_answer [--base REVISION] [REVISION]

Without a revision that of the working tree's HEAD is measured. With --base another one is measured first, and each
figure is also printed as a ratio to that one's. Packages of Debian that are installed already cost nothing: for a
figure from nothing, run it in a new chroot. Each revision takes some minutes; run it on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flashbed.common import programs

REPOSITORY = Path(__file__).parents[1]

STAGES = {"setup": "Building ", "build": "Measuring", "measure": "Report: "}
"""Maps each stage to the beginning of the line of `make run` that ends it."""

IN_ALL = "in all"


@contextmanager
def fresh(revision: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a new clone at a revision, and an environment with an empty cache. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="first-answer-") as folder:
        clone = Path(folder) / "flashbed"
        subprocess.run(["git", "clone", "-q", "--no-local", REPOSITORY, clone], check=True)
        subprocess.run(["git", "checkout", "-q", "--detach", revision], cwd=clone, check=True)
        yield clone, {**os.environ, "FLASHBED_CACHE": f"{folder}/cache"}


def stages(lines: Iterable[tuple[str, float]], in_all_s: float) -> dict[str, float]:
    """Return the seconds of each stage, from lines of output and when each came; the last stage takes the rest."""
    seconds, begin, waiting = dict[str, float](), 0.0, list(STAGES.items())
    for line, at in lines:
        if len(waiting) > 1 and line.startswith(waiting[0][1]):
            seconds[waiting.pop(0)[0]] = at - begin
            begin = at
    return seconds | {waiting[-1][0]: in_all_s - begin, IN_ALL: in_all_s}


def measure(revision: str) -> tuple[dict[str, float], float]:
    """Return the seconds of each stage of `make run`, and its CPU seconds. Raises CalledProcessError, with output."""
    with fresh(revision) as (clone, environment):
        command, begin, cpu_s = ["make", "run"], time.monotonic(), programs.cpu_s()
        process = subprocess.Popen(
            command, cwd=clone, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        lines = [(line, time.monotonic() - begin) for line in process.stdout]
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command, "".join(line for line, _ in lines))
        return stages(lines, time.monotonic() - begin), programs.cpu_s() - cpu_s


def report(revision: str, base: dict[str, float] | None) -> dict[str, float]:
    """Measure a revision, print its figures, and return the seconds of its stages."""
    seconds, cpu_s = measure(revision)
    for stage, spent in seconds.items():
        ratio = f"   {spent / base[stage]:.2f} of the base" if base and stage in base else ""
        print(f"{revision:12} {stage:8} {spent:7.1f} s{ratio}", flush=True)
    print(f"{revision:12} {'CPU':8} {cpu_s:7.1f} s", flush=True)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("--base", help="revision to compare with")
    arguments = parser.parse_args()
    try:
        report(arguments.revision, report(arguments.base, None) if arguments.base else None)
    except subprocess.CalledProcessError as error:
        print(f"{error}\n{error.output or ''}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
