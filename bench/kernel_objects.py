# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU time of compiling a kernel's object on this host: by the compiler alone, by the distilling compiler,
and by the distilling compiler if ccache has the object. Sweeps of prices mostly do the last.

    python -m bench.kernel_objects [--objects N]

The files are from kernels of the appliance that were compiled on this host. Without one it measures nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import programs
from flashbed.common.errors import FlashbedError
from flashbed.image import stores
from flashbed.image.cache import Cache
from flashbed_appliance.shrinking import architecture, distilling, workbench

CALL = re.compile(r"(\S+gcc .* -c) -o \S+ (\S+\.c)\s*(?:;|$)")
"""A compiler's command as Linux's build notes it: its words, and the source file."""


@dataclass(frozen=True)
class Object:
    words: list[str]
    source: str


def objects(folder: Path) -> list[Object]:
    """Return the objects that a build compiled from C, without the build's own programs."""
    compiled = []
    for _, command in workbench.compiled(folder):
        if call := CALL.match(command):
            words = [word for word in shlex.split(call[1]) if not word.startswith("-Wp,-MMD")]
            compiled.append(Object(words, call[2]))
    return compiled


def cost(source: Object, folder: Path, to: Path, environment: Mapping[str, str]) -> float:
    """Return the CPU seconds of compiling an object. Raises CalledProcessError if it no longer compiles, because the
    directory has another configuration.
    """
    before = programs.cpu_s()
    subprocess.run(
        [*source.words, "-o", to, source.source], cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL
    )
    return programs.cpu_s() - before


def measure(name: str, cache: Cache, many: int) -> None:
    folder = cache.root / f"linux-objects-{name}"
    there = objects(folder)
    random.Random(1).shuffle(there)
    alone, first, again, same, taken = 0.0, 0.0, 0.0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        plain, ours = Path(scratch, "plain.o"), Path(scratch, "ours.o")
        compiler = distilling.compiler(cache, architecture.named(name))
        environment = {**os.environ, **compiler.environment, "CCACHE_DIR": f"{scratch}/ccache"}
        for candidate in there:
            if taken == many:
                break
            try:
                alone += cost(candidate, folder, plain, os.environ)
            except subprocess.CalledProcessError:
                continue
            first += cost(candidate, folder, ours, environment)
            again += cost(candidate, folder, ours, environment)
            same += plain.read_bytes() == ours.read_bytes()
            taken += 1
    if not taken:
        print(f"{name}: no kernel is compiled here; `flashbed kernel shrink -a {name} --no-prices` makes one")
        return
    costs = {"compiler": alone, "distilled": first, "found again": again}
    figures = "; ".join(f"{step} {spent / taken * 1e3:.0f} ({spent / alone:.2f})" for step, spent in costs.items())
    print(f"{name}, {taken} objects, CPU ms each: {figures}; {same} the same file")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=100, help="of each architecture")
    arguments = parser.parse_args()
    try:
        for name in architecture.ALL:
            measure(name, stores.open_cache(), arguments.objects)
    except FlashbedError as error:
        print(error.message)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
