# SPDX-License-Identifier: Apache-2.0
"""List the requests of a guest and of the emulator to Debian's archive, without fetching or building anything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from flashbed.image import debian_kernel, emulator, programs, toolchain
from flashbed.image.debian import Archive, Packages, asked
from flashbed.image.guest_parts import ProgramSet
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL


class PackageRequest(NamedTuple):
    """The arguments of Archive.resolve, and the architecture."""

    packages: tuple[str, ...]
    source: bool = False
    alone: bool = False
    architecture: str = toolchain.ARCHITECTURE

    @property
    def name(self) -> str:
        """Return the name under which the request is noted and locked."""
        return asked(self.packages, source=self.source, alone=self.alone)

    def files(self, archive: Archive) -> Packages:
        """Return the files in use: the noted ones, else those of the lock, else those of the mirror."""
        options = {"source": self.source, "alone": self.alone}
        own_archive = archive.of(self.architecture)
        return own_archive.known(self.packages, **options) or own_archive.resolve(self.packages, **options)


def of_guests(archive: Archive, kernels: Iterable[str], sets: Iterable[ProgramSet]) -> list[PackageRequest]:
    """Return the requests of the emulator and of guests with these kernels and programs, each once. `archive` has the
    present name of Debian's kernel.
    """
    requests = [PackageRequest((emulator.SOURCE,), source=True), PackageRequest(toolchain.SYSROOT_PACKAGES)]
    requests.append(PackageRequest(toolchain.COMPILER_PACKAGES, architecture=toolchain.HOST))
    requests.append(PackageRequest(programs.BUSYBOX_PACKAGES))
    for version in kernels:
        if of_debian := re.match(r"\d+\.\d+", version):
            requests.append(PackageRequest((f"linux-source-{of_debian[0]}",), alone=True))
        if version == DEBIAN_KERNEL:
            requests.append(PackageRequest((debian_kernel.PACKAGE,), alone=True))
            requests.append(PackageRequest((debian_kernel.wanted(archive),), alone=True))
    for program_set in sets:
        if "fio" in program_set.built:
            requests.append(PackageRequest(("fio",), source=True))
        if program_set.programs:
            requests.append(PackageRequest(tuple(sorted(program_set.packages))))
    return list(dict.fromkeys(requests))
