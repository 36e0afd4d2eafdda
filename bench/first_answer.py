# SPDX-License-Identifier: Apache-2.0
"""Measure the time from a fresh clone to the first report on this host: `make run` with an empty cache, by stage.

    python -m bench.first_answer [--base REVISION] [--busy N] [REVISION]

Without a revision that of the working tree's HEAD is measured. After `make run`, an image of what it built is exported,
and the study is measured again from that image with an empty cache, as on a host that builds nothing. With --base
another revision is measured first, and each figure is also printed as a ratio to that one's, and the one from the image
as a ratio to the whole `make run`. With --busy, N processes that never sleep run beside all of it. Packages of Debian
that are installed already cost nothing: for a figure from nothing, run it in a new chroot. Each revision takes some
minutes; run it on an idle machine.
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
from tests.support.busy_host import busy

REPOSITORY = Path(__file__).parents[1]

STUDY = "quick"
"""The study that `make run` measures."""

STAGES = {"setup": "Building ", "build": "Measuring", "measure": "Report: "}
"""Maps each stage to the beginning of the line of `make run` that ends it."""

IN_ALL = "in all"

FROM_IMAGE = "from an image"
"""The whole time of a run with an empty cache and an image."""


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


def measure(revision: str, *, also_image: bool) -> tuple[dict[str, float], float]:
    """Return the seconds of each stage of `make run`, and its CPU seconds; with `also_image` also the seconds from an
    image. Raises CalledProcessError, with output.
    """
    with fresh(revision) as (clone, environment):
        command, begin, cpu_s = ["make", "run"], time.monotonic(), programs.cpu_s()
        process = subprocess.Popen(
            command, cwd=clone, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        lines = [(line, time.monotonic() - begin) for line in process.stdout]
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command, "".join(line for line, _ in lines))
        seconds, cpu_s = stages(lines, time.monotonic() - begin), programs.cpu_s() - cpu_s
        return seconds | (_from_image(clone, environment) if also_image else {}), cpu_s


def _from_image(clone: Path, environment: dict[str, str]) -> dict[str, float]:
    flashbed, image = clone / ".venv/bin/flashbed", clone.parent / "image.flashbed"
    elsewhere = {**environment, "FLASHBED_CACHE": f"{clone.parent}/elsewhere", "FLASHBED_IMAGE": str(image)}

    def run(*words: str | Path, env: dict[str, str]) -> None:
        subprocess.run([flashbed, *words], cwd=clone.parent, env=env, check=True, capture_output=True)

    run("image", "export", STUDY, "-o", image, env=environment)
    begin = time.monotonic()
    run("run", STUDY, env=elsewhere)
    return {FROM_IMAGE: time.monotonic() - begin}


def report(revision: str, base: dict[str, float] | None, *, also_image: bool) -> dict[str, float]:
    """Measure a revision, print its figures, and return the seconds of its stages."""
    seconds, cpu_s = measure(revision, also_image=also_image)
    for stage, spent in seconds.items():
        of_base = base.get(IN_ALL if stage == FROM_IMAGE else stage) if base else None
        ratio = f"   {spent / of_base:.2f} of the base" if of_base else ""
        print(f"{revision:12} {stage:14} {spent:7.1f} s{ratio}", flush=True)
    print(f"{revision:12} {'CPU':14} {cpu_s:7.1f} s", flush=True)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("--base", help="revision to compare with")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep N cores of the host busy meanwhile")
    arguments = parser.parse_args()
    try:
        with busy(arguments.busy):
            base = report(arguments.base, None, also_image=False) if arguments.base else None
            report(arguments.revision, base, also_image=True)
    except subprocess.CalledProcessError as error:
        print(f"{error}\n{error.output or ''}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
