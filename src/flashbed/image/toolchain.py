# SPDX-License-Identifier: Apache-2.0
"""The cross compiler and the sysroot of guest programs, both from packages of the suite.

So the host's compiler and headers do not affect a guest. The compiler's programs run with their own loader and
libraries, so the products are the same on every Debian release and on other systems.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image.cache import Cache, Entry
from flashbed.image.debian import Archive

ARCHITECTURE = "arm64"
CROSS_PREFIX = "aarch64-linux-gnu-"
SYSROOT_PACKAGES = ("libc6-dev", "linux-libc-dev", "libaio-dev", "zlib1g-dev")

HOST = "amd64"
"""Debian's name of the architecture on which the compiler runs."""
COMPILER_PACKAGES = ("gcc-aarch64-linux-gnu",)

LOADER = "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
"""The loader's file. The name that programs request is a link, which leads to the host's loader."""
LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
REAL = "real"
"""The directory of the real programs, beside the root, which has scripts that start them."""

INNER = "usr/lib/gcc-cross/aarch64-linux-gnu/12"
TOOLCHAIN_FILES = (
    f"root/usr/bin/{CROSS_PREFIX}gcc",
    f"{REAL}/{INNER}/cc1",
    f"{REAL}/usr/bin/{CROSS_PREFIX}ld.bfd",
    f"root/{INNER}/libgcc.a",
)

_STARTS = """#!/bin/sh
root=${{0%/*}}/{up}
exec "$root/{loader}" --inhibit-cache --library-path "{libraries}" --argv0 "$0" "$root/../{real}/{name}" "$@"
"""
"""gcc finds its parts beside the name by which it was started, which is the script's."""

Environment = Callable[[], Mapping[str, str]]
"""The environment of a build's programs. It is called only when something must be built."""


@dataclass(frozen=True)
class Compiler:
    """gcc and binutils for the guest. `identity` is what a build depends on beside its sources."""

    identity: tuple[tuple[str, str], ...]
    environment: Environment
    """The environment with the compiler's programs first in PATH."""


def compiler(cache: Cache, archive: Archive) -> Compiler:
    """Return the compiler of the suite of `archive`. It is fetched at first use."""
    of_host = archive.of(HOST)
    resolved = of_host.resolve(COMPILER_PACKAGES)

    def fill(folder: Path) -> None:
        with stage("Fetching the compiler for the guest"):
            of_host.unpack(of_host.fetch(COMPILER_PACKAGES, resolved), folder / "root")
            _let_run_anywhere(folder / "root", folder / REAL)

    def environment() -> Mapping[str, str]:
        recipe = {"packages": resolved.files, "starts": _STARTS, "loader": LOADER}
        entry = cache.entry(f"compiler-{ARCHITECTURE}", recipe, fill, products=TOOLCHAIN_FILES)
        sysroot(cache, archive).mend()  # of an image only what recipes name is there
        return {"PATH": f"{entry.path('root/usr/bin')}:{os.environ.get('PATH', '')}"}

    return Compiler(resolved.files, environment)


REPRODUCIBLE = ("KBUILD_BUILD_TIMESTAMP=1970-01-01", "KBUILD_BUILD_USER=flashbed", "KBUILD_BUILD_HOST=flashbed")
"""Arguments of `make` that keep the time and the host of a build out of a kernel."""


def make(*arguments: str | Path, jobs: int) -> list[str]:
    """Return the first arguments of a `make` command for the guest. The products have the same bytes wherever and
    whenever it runs.
    """
    return [
        "make",
        f"-j{jobs}",
        "ARCH=arm64",
        f"CROSS_COMPILE={CROSS_PREFIX}",
        *REPRODUCIBLE,
        *(str(argument) for argument in arguments),
    ]


def sysroot(cache: Cache, archive: Archive, packages: Sequence[str] = SYSROOT_PACKAGES) -> Entry:
    """Return a directory with the guest's C library, headers and static libraries."""
    resolved = archive.resolve(packages)
    probe = "usr/lib/aarch64-linux-gnu/libc.a"

    def build(folder: Path) -> None:
        archive.unpack(archive.fetch(packages, resolved), folder)

    return cache.entry("sysroot", {"packages": resolved.files}, build, products=[probe, "usr/include/stdio.h"])


def _let_run_anywhere(root: Path, real: Path) -> None:
    """Replace each program below `root`, and each link to one, by a script that starts it with the loader and libraries
    of `root`.
    """
    if not (root / LOADER).is_file() or not (root / LOADER).resolve().is_relative_to(root.resolve()):
        raise SetupError(f"the packages of the compiler have no {LOADER} of their own")
    for program, target in list(_programs(root)):
        name = target.relative_to(root.resolve())
        (real / name).parent.mkdir(parents=True, exist_ok=True)
        if not (real / name).exists():
            shutil.copy(target, real / name)
        depth = len(program.relative_to(root).parts) - 1
        libraries = ":".join(f"$root/{folder}" for folder in LIBRARIES)
        up = "/".join([".."] * depth)
        program.unlink()
        program.write_text(_STARTS.format(up=up, loader=LOADER, libraries=libraries, real=REAL, name=name))
        program.chmod(0o755)


def _programs(root: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the compiler's dynamic ELF programs and the links to them, each with its file."""
    for folder in ("usr/bin", INNER, "usr/aarch64-linux-gnu/bin"):
        for path in sorted((root / folder).iterdir()):
            target = path.resolve()
            if target.is_file() and os.access(target, os.X_OK) and target.suffix != ".so" and is_elf(target):
                yield path, target


def is_elf(path: Path) -> bool:
    """Return True if a file begins as ELF files do."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"
