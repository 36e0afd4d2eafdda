# SPDX-License-Identifier: Apache-2.0
"""The cross compiler and the sysroot it links guest programs against.

The sysroot is made of the guest's own Debian packages, so headers that happen to be on the host never change a guest
program.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from flashbed.image.cache import Cache, Entry
from flashbed.image.command import run
from flashbed.image.debian import Archive

ARCHITECTURE = "arm64"
PREFIX = "aarch64-linux-gnu-"
SYSROOT_PACKAGES = ("libc6-dev", "linux-libc-dev", "libaio-dev", "zlib1g-dev")


@functools.cache
def compiler_identity() -> str:
    """The first line of `gcc --version` and of `ld --version`: what a build depends on besides its sources."""
    return " | ".join(run([f"{PREFIX}{tool}", "--version"]).splitlines()[0] for tool in ("gcc", "ld"))


def make(*arguments: str | Path, jobs: int) -> list[str]:
    """The start of a `make` command that builds for the guest, the same bytes wherever and whenever it runs."""
    return [
        "make",
        f"-j{jobs}",
        "ARCH=arm64",
        f"CROSS_COMPILE={PREFIX}",
        "KBUILD_BUILD_TIMESTAMP=1970-01-01",
        "KBUILD_BUILD_USER=flashbed",
        "KBUILD_BUILD_HOST=flashbed",
        *(str(argument) for argument in arguments),
    ]


def sysroot(cache: Cache, archive: Archive, packages: Sequence[str] = SYSROOT_PACKAGES) -> Entry:
    """A folder with the guest's C library, headers and static libraries."""
    resolved = archive.resolve(packages)
    probe = "usr/lib/aarch64-linux-gnu/libc.a"

    def build(folder: Path) -> None:
        archive.unpack(archive.fetch(packages, resolved), folder)

    return cache.entry(
        "sysroot", {"packages": resolved.files}, build, products=[probe, "usr/include/stdio.h"], listed=True
    )
