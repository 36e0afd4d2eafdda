# SPDX-License-Identifier: Apache-2.0
"""Kernel modules, built out of tree against a built kernel: ours, and a few of the kernel's own.

A folder of kernel/ with a Kbuild file makes one module or several; what modules share and the media core are laid
beside it, as in the repository.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flashbed import paths
from flashbed.image import toolchain
from flashbed.image.cache import Cache, Entry, digest_tree
from flashbed.image.command import run
from flashbed.image.kernel import Kernel
from flashbed.progress import stage

CHOSEN = ("iosched", "media_ftl", "yaffs2")
"""Folders whose modules are only in the guests that load them; every guest has all others."""


class OfTheKernel(NamedTuple):
    """Modules that lie in one folder of the kernel's tree, and the settings that they are built with beside its own."""

    folder: str
    settings: tuple[str, ...] = ()
    name: str | None = None
    """Of the only module, where other settings make another of the same name. The kernel knows it by its old one."""


OF_THE_KERNEL = {
    "mtd_tests": OfTheKernel("drivers/mtd/tests", ("CONFIG_MTD_TESTS=m",)),
    "jffs2": OfTheKernel("fs/jffs2"),
    "jffs2_summary": OfTheKernel("fs/jffs2", ("CONFIG_JFFS2_SUMMARY=y",), name="jffs2_summary"),
}
"""Modules of the kernel's tree that few guests load, by the name of an entry."""

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
    wanted = OF_THE_KERNEL[name]
    recipe = {"kernel": kernel.entry.digests, "script": digest_tree(Path(__file__)), **wanted._asdict()}
    # make takes a setting for its own makefiles; what is compiled sees only what is said to the preprocessor
    defined = [f"-D{option}=1" for option, _, value in (s.partition("=") for s in wanted.settings) if value == "y"]

    def fill(folder: Path) -> None:
        scratch = folder / "scratch"
        leave_out = shutil.ignore_patterns("*.[ao]", ".*", "*.ko", "*.mod", "*.mod.c")
        shutil.copytree(kernel.tree / wanted.folder, scratch / wanted.folder, ignore=leave_out)
        with stage(f"Building the kernel's module {name}"):
            _make(kernel, scratch, wanted.folder, folder, *wanted.settings, flags=defined)
        if wanted.name:
            (built,) = folder.glob("*.ko")
            built.rename(folder / f"{wanted.name}.ko")

    return cache.entry(f"kernel-{name}", recipe, fill)


def _make(kernel: Kernel, scratch: Path, subfolder: str, to: Path, *settings: str, flags: Sequence[str] = ()) -> None:
    """Builds the modules of a folder below `scratch`, strips them of debug information, and leaves them in `to`."""
    module = scratch / subfolder
    paths_left_out = (f"-ffile-prefix-map={folder}=." for folder in (scratch, kernel.tree))
    compiler = f"KCFLAGS={' '.join((*paths_left_out, *flags))}"
    run(toolchain.make("-C", kernel.tree, f"M={module}", compiler, *settings, "modules", jobs=os.cpu_count() or 1))
    for built in module.glob("*.ko"):
        shutil.move(built, to / built.name)
        run([f"{toolchain.PREFIX}strip", "--strip-debug", to / built.name])
    shutil.rmtree(scratch)
