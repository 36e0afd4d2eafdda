# SPDX-License-Identifier: Apache-2.0
"""Our kernel modules, built out of tree against a built kernel.

A folder of kernel/ with a Kbuild file makes one module or several; the media core is laid beside it, as in the
repository.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from flashbed import paths
from flashbed.image import toolchain
from flashbed.image.cache import Cache, Entry, digest_tree
from flashbed.image.command import run
from flashbed.image.kernel import Kernel
from flashbed.progress import stage

CHOSEN = ("iosched", "media_ftl")
"""Folders whose modules are only in the guests that load them; every guest has all others."""


def names() -> list[str]:
    """All folders with modules that the project has."""
    return sorted(kbuild.parent.name for kbuild in paths.kernel().glob("*/Kbuild"))


def build_all(cache: Cache, kernel: Kernel) -> tuple[dict[str, Path], dict[str, Path]]:
    """Every module by its name: those that all guests have, and those that a cell chooses."""
    common: dict[str, Path] = {}
    chosen: dict[str, Path] = {}
    for name in names():
        entry = build(cache, kernel, name)
        for product in entry.digests:
            (chosen if name in CHOSEN else common)[product.removesuffix(".ko")] = entry.path(product)
    return common, chosen


def build(cache: Cache, kernel: Kernel, name: str) -> Entry:
    """An entry with the modules of the folder `name`, stripped of debug information."""
    sources = paths.kernel() / name
    core = [paths.media() / part for part in ("include", "src", "sources.mk")]
    recipe = {
        "kernel": kernel.entry.digests,
        "sources": digest_tree(sources, *core),
        "script": digest_tree(Path(__file__)),
    }

    def fill(folder: Path) -> None:
        scratch = folder / "scratch"
        shutil.copytree(sources, scratch / "kernel" / name)
        for part in core:
            copy = shutil.copytree if part.is_dir() else shutil.copy
            (scratch / "media").mkdir(exist_ok=True)
            copy(part, scratch / "media" / part.name)
        module = scratch / "kernel" / name
        flags = f"KCFLAGS=-ffile-prefix-map={scratch}=. -ffile-prefix-map={kernel.tree}=."
        command = toolchain.make("-C", kernel.tree, f"M={module}", flags, "modules", jobs=os.cpu_count() or 1)
        with stage(f"Building the kernel module {name}"):
            run(command)
        for built in module.glob("*.ko"):
            shutil.move(built, folder / built.name)
            run([f"{toolchain.PREFIX}strip", "--strip-debug", folder / built.name])
        shutil.rmtree(scratch)

    return cache.entry(name, recipe, fill)
