# SPDX-License-Identifier: Apache-2.0
"""The kernels that an appliance can have: the small one, built for its settings, and Debian's, which is only fetched.

Debian's serves minutes earlier the first time, and wants more memory. It is for a trial: nothing is linked into it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flashbed import image
from flashbed.common import locks, paths
from flashbed.common.errors import InputError, SetupError
from flashbed.common.progress import stage
from flashbed.common.tomlfile import nearest
from flashbed.image import module_order
from flashbed_appliance.nas import compiling, programs
from flashbed_appliance.nas.settings import Settings, UnsuitableError
from flashbed_appliance.shrinking import building
from flashbed_appliance.shrinking.architecture import Architecture

SMALL, DEBIAN = "small", "debian"
NAMES = (SMALL, DEBIAN)
MACHINES = {
    (SMALL, "x86_64"): "microvm",
    (SMALL, "arm64"): "virt",
    (DEBIAN, "x86_64"): "q35",
    (DEBIAN, "arm64"): "virt",
}
"""Of QEMU (qemu.MACHINES), by kernel and architecture."""

IMAGE, MODULES = "vmlinuz", "modules"

RECIPE_VERSION = 1
"""Raise it if `debian` makes other files of the same packages and modules."""

MORE_MB = 168
"""For Debian's. It began to serve one disk in 96 MB, where the small one does in 24; a machine of it has 216."""

NO_IPV6 = "ipv6.disable=1"
"""The small kernel has none, and settings have no addresses of it: one that has it would listen there, too."""


@dataclass(frozen=True)
class ApplianceKernel:
    """What a loader takes, the modules by name, and how QEMU (qemu.MACHINES) runs it: on which machine, with which MB
    and words more than the small kernel needs.
    """

    architecture: Architecture
    image: Path
    modules: Mapping[str, Path]
    machine: str
    more_mb: int = 0
    words: str = ""


def named(name: str, settings: Settings, target: Architecture) -> ApplianceKernel:
    """The kernel for these settings. Raises InputError for a name that is none of NAMES, or if it lacks what they ask,
    SetupError where it cannot be built or fetched.
    """
    _check(name, settings, target)
    return debian(target) if name == DEBIAN else small(settings, target)


def machine(name: str, settings: Settings, target: Architecture) -> str:
    """Which machine runs that kernel; nothing is built. Raises InputError as `named` does."""
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
    """Built for what the settings ask."""
    built = building.build(target.name, fragments(settings, target))
    found = {module_order.plain(name): path for name, path in built.modules.items()}
    return ApplianceKernel(target, built.image, found, MACHINES[SMALL, target.name])


def fragments(settings: Settings, target: Architecture) -> list[Path]:
    """Of the small kernel."""
    more = []
    if settings.hardware == "pc":
        more = [paths.appliance() / "kernel" / "pc.config"]
    if 4 in settings.nfs.versions:
        more.append(paths.appliance() / "kernel" / "nfs4.config")
    if settings.users:
        more.append(paths.appliance() / "kernel" / "users.config")
    return [*building.nas_fragments(target.name), *more]


def debian(target: Architecture) -> ApplianceKernel:
    """The one that Debian installs, with its modules for all that settings can ask of a virtual machine."""
    archive, package = programs.archive_of(target), _package(target)
    recipe = {
        "packages": archive.resolve([package]).files,
        "modules": compiling.ALL_MODULES,
        "version": [RECIPE_VERSION, module_order.RECIPE_VERSION],
    }

    def fill(folder: Path) -> None:
        kernel, found = unpacked(target, folder / "unpacked")
        (folder / MODULES).mkdir()
        for name in module_order.in_order(found, compiling.ALL_MODULES):
            shutil.copy(found[name], folder / MODULES)
        shutil.copy(kernel, folder / IMAGE)
        locks.remove(folder / "unpacked")

    entry = image.open_cache().entry(f"nas-debian-{target.name}", recipe, fill, products=[IMAGE])
    found = module_order.found_in(entry.path(MODULES))
    return ApplianceKernel(target, entry.path(IMAGE), found, MACHINES[DEBIAN, target.name], MORE_MB, NO_IPV6)


def unpacked(target: Architecture, folder: Path) -> tuple[Path, dict[str, Path]]:
    """Debian's kernel and all of its modules by name, in a folder, which is made."""
    archive, package = programs.archive_of(target), _package(target)
    with stage(f"Fetching Debian's own kernel for {target.name}"):
        debs = archive.fetch([package], archive.resolve([package]))
        archive.unpack([deb for deb in debs if re.match(r"linux-image-\d", deb.name)], folder)
    kernels, found = sorted(folder.glob("boot/vmlinuz-*")), module_order.found_in(folder / "lib/modules")
    if not (kernels and found):
        raise SetupError(f"{package} brought no kernel with modules; `flashbed image build --update` looks for another")
    return kernels[0], found


def _package(target: Architecture) -> str:
    """What users install: it only depends on the package of today's kernel."""
    return f"linux-image-{programs.DEBIAN_NAMES[target.name]}"
