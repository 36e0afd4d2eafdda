# SPDX-License-Identifier: Apache-2.0
"""Build a compiler for kernels that differ in one option.

A changed option changes a header, so most objects are compiled again, and nearly all of them come out unchanged. This
compiler removes from a preprocessed file what its object cannot depend on (appliance/distil/), and lets ccache look
whether the rest was compiled before. The kernel has the same bytes; `check` compares a whole one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flashbed.common import programs
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError
from flashbed.image.cache import Cache, digest_tree
from flashbed.image.command import host_compiler, run
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.shrinking import kernel_build, workbench
from flashbed_appliance.shrinking.architecture import Architecture

CCACHE = "ccache"
ROOM = "1G"
"""Maximum size of ccache's store. The objects of 100 kernels that each differ in one option take a tenth of it."""

FOUND = "found.json"


@dataclass(frozen=True)
class HostCompiler:
    """The compiler: the `environment` with which `make` uses it, and the `digest` of its source."""

    environment: Mapping[str, str]
    digest: str


def compiler(cache: Cache, target: Architecture) -> HostCompiler:
    """Build the compiler for kernels of this architecture. Raises SetupError if a program is missing."""
    name = f"{target.prefix}gcc"
    real = shutil.which(name)
    for program, path in ((name, real), (CCACHE, shutil.which(CCACHE))):
        if path is None:
            raise programs.missing(program)
    sources = appliance_data() / "distil"
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
    """Return the compiler, after checking it once for this kernel: it compiles the kernel of `recipe` in the directory
    `objects`, from a copy of the object directory `first`. Raises SetupError if the two images differ.
    """
    under_test = compiler(cache, target)

    def fill(folder: Path) -> None:
        image_digest = digest_file(first / target.image)
        workbench.copied(first, objects)
        for file, _ in workbench.compiled(objects):
            file.unlink(missing_ok=True)
        kernel_build.compile_kernel(target, source, objects, step, environment=under_test.environment)
        if (built_digest := digest_file(objects / target.image)) != image_digest:
            raise SetupError(
                f"{objects / target.image}: is not the kernel that the compiler makes without appliance/distil/: "
                f"its digest is {built_digest[:16]} instead of {image_digest[:16]}; please report this fault"
            )
        (folder / FOUND).write_text(json.dumps({"image": built_digest}))

    cache.entry(
        f"linux-distilled-{target.name}", {"kernel": recipe, "distil": under_test.digest}, fill, products=[FOUND]
    )
    return under_test
