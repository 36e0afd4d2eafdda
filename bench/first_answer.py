# SPDX-License-Identifier: Apache-2.0
"""Measure the time from a fresh clone to the first report: `make run` with an empty cache, by stage.

    python -m bench.first_answer [--base REVISION] [--busy N] [--new-debian] [REVISION]

Without a revision that of the working tree's HEAD is measured. After `make run`, an image of what it built is exported,
and the study is measured again from that image with an empty cache, as on a host that builds nothing. With --base
another revision is measured first, and each figure is also printed as a ratio to that one's, and the one from the image
as a ratio to the whole `make run`. With --busy, N processes that never sleep run beside all of it. Packages of Debian
that this host has cost nothing; with --new-debian, mmdebstrap makes a Debian 12 without them for each revision, in
which all of it runs. Each revision takes some minutes; run it on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.busy_host import busy

REPOSITORY = Path(__file__).parents[1]

STUDY = "quick"
"""The study that `make run` measures."""

BEGIN, RAN, EXPORTED, ENDED = (f"bench: {what}" for what in ("a new clone", "it ran", "an image", "ran from the image"))
CPU_S = "bench: CPU seconds:"
"""Lines that SCRIPT and SCRIPT_OF_IMAGE print."""

SCRIPT = f"""
set -e
export LC_ALL=C.UTF-8
echo "{BEGIN}"
TIMEFORMAT="{CPU_S} %U %S"
time make run
echo "{RAN}"
"""

SCRIPT_OF_IMAGE = f"""
.venv/bin/flashbed image export {STUDY} -o "$FLASHBED_CACHE.flashbed"
echo "{EXPORTED}"
FLASHBED_IMAGE="$FLASHBED_CACHE.flashbed" FLASHBED_CACHE="$FLASHBED_CACHE.elsewhere" .venv/bin/flashbed run {STUDY}
echo "{ENDED}"
"""

STAGES = {
    "": BEGIN,
    "setup": "Building .* \\.\\.\\.$",  # apt says "Building dependency tree..."
    "build": "Measuring",
    "measure": RAN,
    "image export": EXPORTED,
    "from an image": ENDED,
}
"""Maps each stage to a pattern of the line that ends it. The last is a whole run with an empty cache."""

OF_RUN, IN_ALL, FROM_IMAGE = ("setup", "build", "measure"), "in all", "from an image"

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""Those that this host trusts. The new Debian trusts them too, and so gets through the same proxies."""


@contextmanager
def fresh(revision: str) -> Iterator[Path]:
    """Yield a new clone at a revision, in an empty directory. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="first-answer-") as folder:
        clone = Path(folder) / "flashbed"
        subprocess.run(["git", "clone", "-q", "--no-local", REPOSITORY, clone], check=True)
        subprocess.run(["git", "checkout", "-q", "--detach", revision], cwd=clone, check=True)
        yield clone


def command(clone: Path, script: str, *, new_debian: bool) -> tuple[Sequence[str | Path], Mapping[str, str]]:
    """Return the command that runs the script in the clone or, in a Debian of its own, in a copy of it, and what its
    environment has besides this one's.
    """
    if not new_debian:
        return ["bash", "-c", script], {"FLASHBED_CACHE": f"{clone.parent}/cache"}
    script = f"export HOME=/root FLASHBED_CACHE=/root/cache PIP_CERT={CERTIFICATES}; cd /root/flashbed; {script}"
    debian = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates,git,make"]
    copies = [
        f"--customize-hook=copy-in {clone} /root",
        f"--customize-hook=copy-in {CERTIFICATES} {CERTIFICATES.parent}",
    ]
    runs = f'--customize-hook=chroot "$1" bash -c {shlex.quote(script)}'
    return [*debian, *copies, runs, "bookworm", "/dev/null"], {}


def stages(lines: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the seconds of each stage that ended, and of all of `make run`, from its lines and when each came."""
    seconds, begin, waiting = dict[str, float](), 0.0, list(STAGES.items())
    for line, at in lines:
        if waiting and re.match(waiting[0][1], line):
            seconds[waiting.pop(0)[0]] = at - begin
            begin = at
    seconds.pop("", None)
    return {**seconds, IN_ALL: sum(seconds.get(stage, 0.0) for stage in OF_RUN)}


def cpu_s(lines: Iterable[tuple[str, float]]) -> float:
    """Return the CPU seconds of `make run`, user's and system's."""
    (line,) = (line for line, _ in lines if line.startswith(CPU_S))
    return sum(map(float, line.removeprefix(CPU_S).split()))


def measure(revision: str, *, also_image: bool, new_debian: bool) -> tuple[dict[str, float], float]:
    """Return the seconds of each stage of `make run`, and its CPU seconds; with `also_image` also the seconds from an
    image. Raises CalledProcessError, with output.
    """
    with fresh(revision) as clone:
        words, more = command(clone, SCRIPT + SCRIPT_OF_IMAGE * also_image, new_debian=new_debian)
        begin = time.monotonic()
        process = subprocess.Popen(
            words, cwd=clone, env={**os.environ, **more}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        lines = [(line, time.monotonic() - begin) for line in process.stdout]
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, words, "".join(line for line, _ in lines))
        return stages(lines), cpu_s(lines)


def report(revision: str, base: dict[str, float] | None, *, also_image: bool, new_debian: bool) -> dict[str, float]:
    """Measure a revision, print its figures, and return the seconds of its stages."""
    seconds, cpu = measure(revision, also_image=also_image, new_debian=new_debian)
    for stage, spent in seconds.items():
        of_base = base.get(IN_ALL if stage == FROM_IMAGE else stage) if base else None
        ratio = f"   {spent / of_base:.2f} of the base" if of_base else ""
        print(f"{revision:12} {stage:14} {spent:7.1f} s{ratio}", flush=True)
    print(f"{revision:12} {'CPU':14} {cpu:7.1f} s", flush=True)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("--base", help="revision to compare with")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep N cores of the host busy meanwhile")
    parser.add_argument("--new-debian", action="store_true", help="measure in a Debian 12 of its own")
    arguments = parser.parse_args()
    new_debian = arguments.new_debian
    try:
        with busy(arguments.busy):
            base = report(arguments.base, None, also_image=False, new_debian=new_debian) if arguments.base else None
            report(arguments.revision, base, also_image=True, new_debian=new_debian)
    except subprocess.CalledProcessError as error:
        print(f"{error}\n{(error.output or '')[-4000:]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
