# SPDX-License-Identifier: Apache-2.0
"""Our kernel modules, built out of tree against a built kernel.

A module is a folder of kernel/ with a Kbuild file; what modules share and the media core are laid beside it, as in the
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

SHARED = "common"
"""The folder of kernel/ that is no module: what several of them compile in."""


def names() -> list[str]:
    """All modules that the project has."""
    return sorted(kbuild.parent.name for kbuild in paths.kernel().glob("*/Kbuild"))


def build(cache: Cache, kernel: Kernel, name: str) -> Entry:
    """An entry with NAME.ko, stripped of debug information."""
    parts = [paths.kernel() / part for part in (name, SHARED)]
    core = [paths.media() / part for part in ("include", "src", "sources.mk")]
    recipe = {
        "kernel": kernel.entry.digests,
        "sources": digest_tree(*parts, *core),
        "script": digest_tree(Path(__file__)),
    }

    def fill(folder: Path) -> None:
        scratch = folder / "scratch"
        for part in parts:
            shutil.copytree(part, scratch / "kernel" / part.name)
        for part in core:
            copy = shutil.copytree if part.is_dir() else shutil.copy
            (scratch / "media").mkdir(exist_ok=True)
            copy(part, scratch / "media" / part.name)
        module = scratch / "kernel" / name
        flags = f"KCFLAGS=-ffile-prefix-map={scratch}=. -ffile-prefix-map={kernel.tree}=."
        command = toolchain.make("-C", kernel.tree, f"M={module}", flags, "modules", jobs=os.cpu_count() or 1)
        with stage(f"Building the kernel module {name}"):
            run(command)
        shutil.move(module / f"{name}.ko", folder / f"{name}.ko")
        run([f"{toolchain.PREFIX}strip", "--strip-debug", folder / f"{name}.ko"])
        shutil.rmtree(scratch)

    return cache.entry(name, recipe, fill, products=[f"{name}.ko"])
