# SPDX-License-Identifier: Apache-2.0
"""What an object of a kernel costs to compile: by the compiler alone, by the one that distils first, and by that one
when ccache has it, in CPU time of this host. Prices of options are mostly the last.

    python -m bench.kernel_objects [--objects N]

Takes files from the appliance's kernels that were compiled here; without one it says so, and measures nothing.
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

from flashbed.common import children
from flashbed.common.errors import FlashbedError
from flashbed.image import stores
from flashbed.image.cache import Cache
from flashbed_appliance.shrinking import architecture, distilling, workbench

CALL = re.compile(r"(\S+gcc .* -c) -o \S+ (\S+\.c)\s*(?:;|$)")
"""In what Linux's build notes of an object: the compiler's words, and the source."""


@dataclass(frozen=True)
class Object:
    words: list[str]
    source: str


def objects(folder: Path) -> list[Object]:
    """What a build compiled from C, but for its own programs."""
    found = []
    for _, command in workbench.compiled(folder):
        if call := CALL.match(command):
            words = [word for word in shlex.split(call[1]) if not word.startswith("-Wp,-MMD")]
            found.append(Object(words, call[2]))
    return found


def cost(one: Object, folder: Path, to: Path, environment: Mapping[str, str]) -> float:
    """Seconds of CPU; none counts that does not compile any more, as the folder has another configuration since."""
    before = children.cpu_s()
    subprocess.run(
        [*one.words, "-o", to, one.source], cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL
    )
    return children.cpu_s() - before


def measure(name: str, cache: Cache, many: int) -> None:
    folder = cache.root / f"linux-objects-{name}"
    there = objects(folder)
    random.Random(1).shuffle(there)
    alone, first, again, same, taken = 0.0, 0.0, 0.0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        plain, ours = Path(scratch, "plain.o"), Path(scratch, "ours.o")
        compiler = distilling.compiler(cache, architecture.named(name))
        environment = {**os.environ, **compiler.environment, "CCACHE_DIR": f"{scratch}/ccache"}
        for one in there:
            if taken == many:
                break
            try:
                alone += cost(one, folder, plain, os.environ)
            except subprocess.CalledProcessError:
                continue
            first += cost(one, folder, ours, environment)
            again += cost(one, folder, ours, environment)
            same += plain.read_bytes() == ours.read_bytes()
            taken += 1
    if not taken:
        print(f"{name}: no kernel is compiled here; `flashbed kernel shrink -a {name} --no-prices` makes one")
        return
    costs = {"compiler": alone, "distilled": first, "found again": again}
    told = "; ".join(f"{what} {spent / taken * 1e3:.0f} ({spent / alone:.2f})" for what, spent in costs.items())
    print(f"{name}, {taken} objects, CPU ms each: {told}; {same} the same file")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=100, help="of each architecture")
    given = parser.parse_args()
    try:
        for name in architecture.ALL:
            measure(name, stores.open_cache(), given.objects)
    except FlashbedError as error:
        print(error.message)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
