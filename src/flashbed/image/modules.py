# SPDX-License-Identifier: Apache-2.0
"""Kernel modules, built out of tree against a built kernel: ours, and a few of the kernel's own.

A folder of kernel/ with a Kbuild file makes one module or several; what modules share and the media core are laid
beside it, as in the repository.
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

CHOSEN = ("iosched", "media_ftl", "yaffs2")
"""Folders whose modules are only in the guests that load them; every guest has all others."""

OF_THE_KERNEL = {
    "mtd_tests": ("drivers/mtd/tests", "CONFIG_MTD_TESTS"),
}
"""Modules of the kernel's tree that few guests load: by the name of an entry its folder, and what turns it on."""

SHARED = "common"
"""The folder of kernel/ that is no module: what several of them compile in."""


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
    for name in OF_THE_KERNEL:
        entry = build_of_the_kernel(cache, kernel, name)
        chosen |= {product.removesuffix(".ko"): entry.path(product) for product in entry.digests}
    return common, chosen


def build(cache: Cache, kernel: Kernel, name: str) -> Entry:
    """An entry with the modules of the folder `name`, stripped of debug information."""
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
        with stage(f"Building the kernel module {name}"):
            _make(kernel, scratch, f"kernel/{name}", folder)

    return cache.entry(name, recipe, fill)


def build_of_the_kernel(cache: Cache, kernel: Kernel, name: str) -> Entry:
    """An entry with modules of OF_THE_KERNEL."""
    subfolder, option = OF_THE_KERNEL[name]
    recipe = {"kernel": kernel.entry.digests, "folder": subfolder, "option": option}

    def fill(folder: Path) -> None:
        scratch = folder / "scratch"
        shutil.copytree(kernel.tree / subfolder, scratch / subfolder, ignore=shutil.ignore_patterns("*.[ao]", ".*"))
        with stage(f"Building the kernel's module {name}"):
            _make(kernel, scratch, subfolder, folder, f"{option}=m")

    return cache.entry(f"kernel-{name}", recipe, fill)


def _make(kernel: Kernel, scratch: Path, subfolder: str, to: Path, *options: str) -> None:
    """Builds the modules of a folder below `scratch`, strips them of debug information, and leaves them in `to`."""
    module = scratch / subfolder
    flags = f"KCFLAGS=-ffile-prefix-map={scratch}=. -ffile-prefix-map={kernel.tree}=."
    run(toolchain.make("-C", kernel.tree, f"M={module}", flags, *options, "modules", jobs=os.cpu_count() or 1))
    for built in module.glob("*.ko"):
        shutil.move(built, to / built.name)
        run([f"{toolchain.PREFIX}strip", "--strip-debug", to / built.name])
    shutil.rmtree(scratch)
