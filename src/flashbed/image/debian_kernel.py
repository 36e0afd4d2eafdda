# SPDX-License-Identifier: Apache-2.0
"""Provide Debian's kernel from its binary package, and the modules that a cell loads.

Nothing is compiled. Each guest gets the modules that its cell needs (module_order.py).
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
from flashbed.image.initramfs import InitramfsFile
from flashbed.image.kernel import CONFIG, IMAGE, SYSTEM_MAP, Kernel
from flashbed.image.module_order import FILESYSTEM_ALIAS, SCHEDULER_ALIAS, ModuleFiles

KERNEL_PACKAGE = "linux-image-arm64"
"""The package that users install. It is empty, and depends on the package of the current kernel."""

RECIPE_VERSION = 1
"""Raise it if `_keep` makes other files of the same package."""

MODULES, NAMES = "modules", "names.json"


def build(cache: Cache, archive: Archive) -> Kernel:
    """Return the kernel that Debian installs."""
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
    """Return the package of the kernel, on which Debian's empty package depends. Raises SetupError."""
    debs = archive.fetch([KERNEL_PACKAGE], archive.resolve([KERNEL_PACKAGE], alone=True))
    depends = " ".join(run(["dpkg-deb", "-f", deb, "Depends"]) for deb in debs)
    if not (named := re.search(r"linux-image-\d[^ ,]*-arm64", depends)):
        raise SetupError(f"{KERNEL_PACKAGE} depends on {depends.strip()}, which names no kernel")
    return named[0]


def _keep(unpacked: Path, folder: Path) -> None:
    """Copy image, configuration and modules to their paths in a kernel's entry."""
    (modules,) = unpacked.glob("lib/modules/*")
    for source, to in (("boot/vmlinuz-*", IMAGE), ("boot/config-*", CONFIG)):
        (file,) = unpacked.glob(source)
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / to)
    (folder / SYSTEM_MAP).write_text("")  # Debian has the symbols in a package of 700 MB
    shutil.copytree(modules / "kernel", folder / MODULES)
    names = module_order.names_of(modules)
    (folder / NAMES).write_text(json.dumps(names, indent=1, sort_keys=True))


def loaded(kernel: Kernel, program_set: ProgramSet) -> list[InitramfsFile]:
    """Return the modules that a cell and then its tool need, named in the order in which they load. Raise PartError for
    a file system or scheduler that the kernel has neither as a module nor built in, and SetupError for another module.
    """
    assert kernel.modules is not None
    try:
        return module_order.files(kernel.modules, program_set.of_kernel, program_set.of_kernel_for_tool)
    except LookupError as error:
        raise _lacking(kernel, str(error.args[0])) from None


def _lacking(kernel: Kernel, name: str) -> SetupError | PartError:
    lacks = f"Debian's kernel {kernel.package_version} has no"
    for kind, key, plain_name in (
        ("file system", "type", name.removeprefix(FILESYSTEM_ALIAS)),
        ("scheduler", "name", name.removesuffix(SCHEDULER_ALIAS)),
    ):
        if plain_name != name:
            return PartError(f"{lacks} {kind} {plain_name}; give the study another kernel", key, plain_name)
    return SetupError(f"{lacks} module {name}")
