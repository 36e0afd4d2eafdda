# SPDX-License-Identifier: Apache-2.0
"""What a guest and the emulator ask of Debian's archive, without fetching or building any of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from flashbed.image import debian_kernel, emulator, programs, toolchain
from flashbed.image.debian import Archive, Packages, asked
from flashbed.image.guest_parts import ProgramSet
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL


class PackageRequest(NamedTuple):
    """As Archive.resolve takes it, and the architecture that it is for."""

    packages: tuple[str, ...]
    source: bool = False
    alone: bool = False
    architecture: str = toolchain.ARCHITECTURE

    @property
    def name(self) -> str:
        """As it is noted and locked."""
        return asked(self.packages, source=self.source, alone=self.alone)

    def files(self, archive: Archive) -> Packages:
        """What is used: as noted, else as locked, else as the mirror has it."""
        how = {"source": self.source, "alone": self.alone}
        here = archive.of(self.architecture)
        return here.known(self.packages, **how) or here.resolve(self.packages, **how)


def of_guests(archive: Archive, kernels: Iterable[str], sets: Iterable[ProgramSet]) -> list[PackageRequest]:
    """For guests with these kernels and programs, and the emulator, each once. `archive` says what Debian's kernel is
    called today.
    """
    found = [PackageRequest((emulator.SOURCE,), source=True), PackageRequest(toolchain.SYSROOT_PACKAGES)]
    found.append(PackageRequest(toolchain.COMPILER_PACKAGES, architecture=toolchain.HOST))
    found.append(PackageRequest(programs.BUSYBOX_PACKAGES))
    for version in kernels:
        if of_debian := re.match(r"\d+\.\d+", version):
            found.append(PackageRequest((f"linux-source-{of_debian[0]}",), alone=True))
        if version == DEBIAN_KERNEL:
            found.append(PackageRequest((debian_kernel.PACKAGE,), alone=True))
            found.append(PackageRequest((debian_kernel.wanted(archive),), alone=True))
    for one in sets:
        if "fio" in one.built:
            found.append(PackageRequest(("fio",), source=True))
        if one.programs:
            found.append(PackageRequest(tuple(sorted(one.packages))))
    return list(dict.fromkeys(found))
