# SPDX-License-Identifier: Apache-2.0
"""Debian's own kernel as it is installed: its binary package, and the modules of it that a cell loads.

Nothing is compiled for it. What the lab's kernels have built in, this one has as modules: each guest gets those that
its cell needs, in the order in which they load.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image import module_order
from flashbed.image.cache import Cache
from flashbed.image.command import run
from flashbed.image.debian import Archive
from flashbed.image.guest_parts import PartError, ProgramSet
from flashbed.image.initramfs import File
from flashbed.image.kernel import CONFIG, IMAGE, SYMBOLS, Kernel
from flashbed.image.module_order import ModuleFiles
from flashbed.workload.base import KERNEL_MODULES

PACKAGE = "linux-image-arm64"
"""What users install; it only depends on the package of today's kernel."""

RECIPE_VERSION = 1
"""Raise it if `_keep` makes other files of the same package."""

MODULES, NAMES = "modules", "names.json"

CELL, TOOL = "cell", "tool"
"""Folders of the guest's below KERNEL_MODULES."""

FILESYSTEM, SCHEDULER = "fs-", "-iosched"
"""How Linux calls the module of a file system or a scheduler, whichever file that is: fs-vfat, bfq-iosched."""

ASKED_FOR = {"vfat": ("nls_cp437", "nls_ascii")}
"""What a module asks for by name when it mounts, and so does not say: CONFIG_FAT_DEFAULT_CODEPAGE and _IOCHARSET."""


def build(cache: Cache, archive: Archive) -> Kernel:
    """The kernel that Debian installs."""
    package = wanted(archive)
    resolved = archive.resolve([package], alone=True)
    recipe = {"packages": resolved.files, "version": [RECIPE_VERSION, module_order.RECIPE_VERSION]}

    def fill(folder: Path) -> None:
        with stage("Fetching Debian's own kernel"):
            unpacked = folder / "unpacked"
            archive.unpack(archive.fetch([package], resolved), unpacked)
            _keep(unpacked, folder)
            shutil.rmtree(unpacked)

    entry = cache.entry("linux-debian", recipe, fill, products=[IMAGE, CONFIG, NAMES])
    modules = ModuleFiles(module_order.found_in(entry.folder / MODULES), json.loads(entry.path(NAMES).read_text()))
    return Kernel(entry, resolved.version(package), modules=modules)


def wanted(archive: Archive) -> str:
    """The package of the kernel: what Debian's empty one depends on."""
    debs = archive.fetch([PACKAGE], archive.resolve([PACKAGE], alone=True))
    said = " ".join(run(["dpkg-deb", "-f", deb, "Depends"]) for deb in debs)
    if not (named := re.search(r"linux-image-\d[^ ,]*-arm64", said)):
        raise SetupError(f"{PACKAGE} depends on {said.strip()}, which names no kernel")
    return named[0]


def _keep(unpacked: Path, folder: Path) -> None:
    """Lays image, configuration and modules where each kernel has them."""
    (modules,) = unpacked.glob("lib/modules/*")
    for source, to in (("boot/vmlinuz-*", IMAGE), ("boot/config-*", CONFIG)):
        (found,) = unpacked.glob(source)
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(found, folder / to)
    (folder / SYMBOLS).write_text("")  # Debian's are in a package of 700 MB
    shutil.copytree(modules / "kernel", folder / MODULES)
    names = module_order.names_of(modules)
    (folder / NAMES).write_text(json.dumps(names, indent=1, sort_keys=True))


def loaded(kernel: Kernel, wanted: ProgramSet) -> list[File]:
    """The modules for what a cell and then its tool want, named in the order in which they load. Raises PartError for
    what the kernel has neither as a module nor built in.
    """
    known = kernel.modules
    assert known is not None
    try:
        asks = [name for module in known.in_order(wanted.of_kernel) for name in ASKED_FOR.get(module, ())]
        first = known.in_order([*wanted.of_kernel, *asks])
        both = known.in_order([*first, *wanted.of_kernel_for_tool])
    except LookupError as error:
        raise _lacking(kernel, str(error.args[0])) from None
    return [
        File(f"{KERNEL_MODULES}/{group}/{number:02}-{file.name}", file, 0o644)
        for group, names in ((CELL, first), (TOOL, both[len(first) :]))
        for number, file in enumerate(known.files[name] for name in names)
    ]


def _lacking(kernel: Kernel, name: str) -> SetupError | PartError:
    told = f"Debian's kernel {kernel.package_version} has no"
    for kind, key, its in (
        ("file system", "type", name.removeprefix(FILESYSTEM)),
        ("scheduler", "name", name.removesuffix(SCHEDULER)),
    ):
        if its != name:
            return PartError(f"{told} {kind} {its}; give the study another kernel", key, its)
    return SetupError(f"{told} module {name}")
