# SPDX-License-Identifier: Apache-2.0
"""Provide an appliance's kernel: the small one, which is built for its settings, or Debian's, which is only fetched.

With Debian's kernel the first start is minutes earlier, but needs more memory. It is for a trial: nothing is linked
into it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flashbed import image
from flashbed.common import locks
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.common.tomlfile import nearest
from flashbed.image import module_order
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.nas import compiling, programs
from flashbed_appliance.nas.settings import Settings, UnsuitableError
from flashbed_appliance.shrinking import kernel_build
from flashbed_appliance.shrinking.architecture import Architecture

SMALL, DEBIAN = "small", "debian"
NAMES = (SMALL, DEBIAN)
MACHINES = {
    (SMALL, "x86_64"): "microvm",
    (SMALL, "arm64"): "virt",
    (DEBIAN, "x86_64"): "q35",
    (DEBIAN, "arm64"): "virt",
}
"""The machine of QEMU (qemu.MACHINES), by kernel and architecture."""

IMAGE, MODULES = "vmlinuz", "modules"

RECIPE_VERSION = 1
"""Raise it if `debian` makes other files of the same packages and modules."""

MORE_MB = 168
"""The memory that Debian's kernel needs beyond the small one, in MB. It needed 96 MB to begin to serve one disk, the
small one 24 MB. A machine with it has 216 MB.
"""

NO_IPV6 = "ipv6.disable=1"
"""The small kernel has no IPv6, and settings have no addresses of it. Without this argument Debian's kernel would
listen there, too.
"""


@dataclass(frozen=True)
class ApplianceKernel:
    """A kernel, and how QEMU runs it."""

    architecture: Architecture
    image: Path
    """The file for a boot loader."""
    modules: Mapping[str, Path]
    """The modules by name."""
    machine: str
    """The machine of QEMU (qemu.MACHINES)."""
    more_mb: int = 0
    """The memory that it needs beyond the small kernel, in MB."""
    arguments: str = ""
    """Arguments on the kernel's command line that the small kernel does not need."""


def named(name: str, settings: Settings, target: Architecture) -> ApplianceKernel:
    """Return the kernel for these settings. Raises InputError if the name is none of NAMES, or if the kernel lacks
    something that the settings ask for, and SetupError if it cannot be built or fetched.
    """
    _check(name, settings, target)
    return debian(target) if name == DEBIAN else small(settings, target)


def machine(name: str, settings: Settings, target: Architecture) -> str:
    """Return the machine of QEMU that runs this kernel, without building it. Raises InputError as `named` does."""
    _check(name, settings, target)
    return MACHINES[name, target.name]


def _check(name: str, settings: Settings, target: Architecture) -> None:
    if name not in NAMES:
        raise InputError(f"--kernel {name}: is none of {', '.join(NAMES)}{nearest(name, NAMES)}")
    if settings.hardware == "pc" and target.name != "x86_64":
        raise UnsuitableError('hardware = "pc": a PC is x86_64; leave it out, or build for x86_64')
    if name == DEBIAN and settings.nfs.versions == [2]:
        raise UnsuitableError("nfs.versions: Debian's kernel does not serve 2; add 3, or use --kernel small")


def small(settings: Settings, target: Architecture) -> ApplianceKernel:
    """Build the small kernel for these settings."""
    built = kernel_build.build(target.name, fragments(settings, target))
    modules = {module_order.plain(name): path for name, path in built.modules.items()}
    return ApplianceKernel(target, built.image, modules, MACHINES[SMALL, target.name])


def fragments(settings: Settings, target: Architecture) -> list[Path]:
    """Return the configuration fragments of the small kernel."""
    more = []
    if settings.hardware == "pc":
        more = [appliance_data() / "kernel" / "pc.config"]
    if 4 in settings.nfs.versions:
        more.append(appliance_data() / "kernel" / "nfs4.config")
    if settings.users:
        more.append(appliance_data() / "kernel" / "users.config")
    return [*kernel_build.nas_fragments(target.name), *more]


def debian(target: Architecture) -> ApplianceKernel:
    """Return Debian's kernel, with the modules for all settings that a virtual machine can have."""
    archive, package = programs.archive_of(target), _package(target)
    recipe = {
        "packages": archive.resolve([package]).files,
        "modules": compiling.ALL_MODULES,
        "version": [RECIPE_VERSION, module_order.RECIPE_VERSION],
    }

    def fill(folder: Path) -> None:
        kernel, modules = unpacked(target, folder / "unpacked")
        (folder / MODULES).mkdir()
        for name in module_order.in_order(modules, compiling.ALL_MODULES):
            shutil.copy(modules[name], folder / MODULES)
        shutil.copy(kernel, folder / IMAGE)
        locks.remove(folder / "unpacked")

    entry = image.open_cache().entry(f"nas-debian-{target.name}", recipe, fill, products=[IMAGE])
    modules = module_order.found_in(entry.path(MODULES))
    return ApplianceKernel(target, entry.path(IMAGE), modules, MACHINES[DEBIAN, target.name], MORE_MB, NO_IPV6)


def unpacked(target: Architecture, folder: Path) -> tuple[Path, dict[str, Path]]:
    """Unpack Debian's kernel into `folder`, which is created. Return its file and all of its modules by name. Raises
    SetupError.
    """
    archive, package = programs.archive_of(target), _package(target)
    with stage(f"Fetching Debian's own kernel for {target.name}"):
        debs = archive.fetch([package], archive.resolve([package]))
        archive.unpack([deb for deb in debs if re.match(r"linux-image-\d", deb.name)], folder)
    kernels, modules = sorted(folder.glob("boot/vmlinuz-*")), module_order.found_in(folder / "lib/modules")
    if not (kernels and modules):
        raise SetupError(f"{package} has no kernel with modules; `flashbed image build --update` looks for another")
    return kernels[0], modules


def _package(target: Architecture) -> str:
    """Return the package that users install. It is empty, and depends on the package of the current kernel."""
    return f"linux-image-{programs.DEBIAN_NAMES[target.name]}"
