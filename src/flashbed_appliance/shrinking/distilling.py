# SPDX-License-Identifier: Apache-2.0
"""A compiler for kernels that differ from one another by an option.

Such an option changes a header, and so most objects are compiled again; nearly all of them come out as they were. This
compiler takes out of a file's text what its object cannot depend on (appliance/distil/), and has ccache look whether
what is left was compiled before. The kernel is the same to the byte: `check` holds a whole one to that.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import paths, programs
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError
from flashbed.image.cache import Cache, digest_tree
from flashbed.image.command import host_compiler, run
from flashbed_appliance.shrinking import building, workbench
from flashbed_appliance.shrinking.architecture import Architecture

CCACHE = "ccache"
ROOM = "1G"
"""Of what ccache keeps; the objects of 100 kernels that differ in an option each take a tenth."""

FOUND = "found.json"


@dataclass(frozen=True)
class HostCompiler:
    """`environment`: what `make` needs so that it compiles by it. `digest`: of its source."""

    environment: Mapping[str, str]
    digest: str


def compiler(cache: Cache, target: Architecture) -> HostCompiler:
    """For kernels of this architecture. Raises SetupError if a program is missing."""
    name = f"{target.prefix}gcc"
    real = shutil.which(name)
    for program, found in ((name, real), (CCACHE, shutil.which(CCACHE))):
        if found is None:
            raise programs.missing(program)
    sources = paths.appliance() / "distil"
    digest = digest_tree(*(sources / part for part in ("src", "Makefile", "compiler")))

    def fill(folder: Path) -> None:
        run(["make", "-C", sources, f"BUILD={folder}", "CFLAGS=-O2"])
        shutil.copy(sources / "compiler", folder / name)

    recipe = {"sources": digest, "compiler": host_compiler(), "name": name}
    entry = cache.entry("distil", recipe, fill)
    environment = {
        "PATH": f"{entry.folder}:{os.environ['PATH']}",
        "DISTIL_COMPILER": str(real),
        "CCACHE_CONFIGPATH": os.devnull,
        "CCACHE_DIR": str(cache.root.parent / CCACHE),
        "CCACHE_MAXSIZE": ROOM,
        "CCACHE_NOHASHDIR": "1",
    }
    return HostCompiler(environment, digest)


def check(
    target: Architecture,
    cache: Cache,
    source: Path,
    recipe: Mapping[str, object],
    first: Path,
    objects: Path,
    step: Callable[[], None],
) -> HostCompiler:
    """The compiler, after it has made the kernel of `recipe`, once, in the folder `objects`, from what the folder
    `first` has of it. Raises SetupError if the two are not the same.
    """
    found = compiler(cache, target)

    def fill(folder: Path) -> None:
        wanted = digest_file(first / target.image)
        workbench.copied(first, objects)
        for file, _ in workbench.compiled(objects):
            file.unlink(missing_ok=True)
        building.compile_kernel(target, source, objects, step, environment=found.environment)
        if (got := digest_file(objects / target.image)) != wanted:
            raise SetupError(
                f"{objects / target.image}: is not the kernel that the compiler makes without appliance/distil/: "
                f"{got[:16]} instead of {wanted[:16]}; please report this fault"
            )
        (folder / FOUND).write_text(json.dumps({"image": got}))

    cache.entry(f"linux-distilled-{target.name}", {"kernel": recipe, "distil": found.digest}, fill, products=[FOUND])
    return found
