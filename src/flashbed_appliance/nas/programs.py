# SPDX-License-Identifier: Apache-2.0
"""The appliance's user space: its own program, linked statically with musl, and busybox, dropbear and LVM from Debian's
packages.

With musl the static program has 116 KB, with glibc 800 KB.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from flashbed.common import paths
from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image import guest_programs as debian_programs
from flashbed.image.cache import Cache, digest_tree
from flashbed.image.command import run
from flashbed.image.debian import Archive
from flashbed_appliance.data_files import appliance_data
from flashbed_appliance.shrinking.architecture import Architecture

DEBIAN_NAMES = {"x86_64": "amd64", "arm64": "arm64"}
TRIPLETS = {"x86_64": "x86_64-linux", "arm64": "aarch64-linux"}
"""How the names of Debian's C library directories begin."""

RECIPE_VERSION = 1
"""Raise it if the same sources, packages and flags give other files."""

OWN = "nas"
DROPBEAR = ("dropbear-bin", "/usr/sbin/dropbear")
LVM = ("lvm2", "/sbin/lvm")
"""A package and the program to take from it."""

FLAGS = (
    "-std=c11",
    "-D_GNU_SOURCE",
    "-Os",
    "-Wall",
    "-Wextra",
    "-fno-asynchronous-unwind-tables",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-pie",
)
LINK_FLAGS = ("-static", "-no-pie", "-nostdlib", "-Wl,--gc-sections", "-Wl,--build-id=none", "-s")


def archive_of(target: Architecture) -> Archive:
    """Return the archive of Debian's packages for an architecture."""
    return Archive.below(paths.cache_root(), DEBIAN_NAMES[target.name])


def own(cache: Cache, target: Architecture) -> Path:
    """Build the program of appliance/user (init and exportd) and return its path."""
    archive = archive_of(target)
    packages = ("musl-dev", "linux-libc-dev")
    resolved = archive.resolve(packages)
    sources = _sources()
    headers = [folder for folder in _includes() if folder.is_dir()]
    recipe = {
        "packages": resolved.files,
        "sources": digest_tree(*headers, appliance_data() / "user" / "main.c"),
        "flags": (*FLAGS, *LINK_FLAGS),
        "compiler": target.compiler,
        "version": RECIPE_VERSION,
    }

    def fill(folder: Path) -> None:
        root = folder / "root"
        with stage(f"Building the appliance's program for {target.name}"):
            archive.unpack(archive.fetch(packages, resolved), root)
            _compile(target, root, sources, folder / OWN)
        shutil.rmtree(root)

    return cache.entry(f"nas-program-{target.name}", recipe, fill, products=[OWN]).path(OWN)


def _list(name: str) -> list[str]:
    text = (appliance_data() / "user" / "sources.mk").read_text().replace("\\\n", " ")
    line = re.search(rf"^{name} = (.*)$", text, re.MULTILINE)
    if line is None:
        raise SetupError(f"{appliance_data() / 'user/sources.mk'}: has no line {name} = ...")
    return line[1].split()


def _sources() -> list[Path]:
    return [(appliance_data() / "user" / name).resolve() for name in _list("SOURCES")]


def _includes() -> list[Path]:
    return [(appliance_data() / "user" / name).resolve() for name in _list("INCLUDES")]


def _compile(target: Architecture, root: Path, sources: Sequence[Path], to: Path) -> None:
    triplet = TRIPLETS[target.name]
    library = root / "usr/lib" / f"{triplet}-musl"
    compiler = f"{target.prefix}gcc"
    headers = (root / "usr/include" / f"{triplet}-musl", root / "usr/include", root / "usr/include" / f"{triplet}-gnu")
    searched = [word for folder in headers for word in ("-idirafter", str(folder))]
    begin, end = [library / name for name in ("crt1.o", "crti.o")], [library / "crtn.o"]
    run(
        [
            compiler,
            *FLAGS,
            "-nostdinc",
            *searched,
            *(f"-I{folder}" for folder in _includes()),
            *LINK_FLAGS,
            "-o",
            to,
            *begin,
            *sources,
            "-Wl,--start-group",
            library / "libc.a",
            "-lgcc",
            "-Wl,--end-group",
            *end,
        ]
    )


def busybox(cache: Cache, target: Architecture) -> Path:
    """Return the path of Debian's static busybox."""
    packages, program = ["busybox-static"], "/bin/busybox"
    entry = debian_programs.from_packages(cache, archive_of(target), packages, [program])
    return entry.path(f"root{program}")


def with_libraries(cache: Cache, target: Architecture, package: str, program: str) -> Path:
    """Return a directory with a program of a Debian package and the libraries that it needs, at their paths in the
    appliance.
    """
    archive = archive_of(target)
    packages = (package,)
    resolved = archive.resolve(packages)

    def fill(folder: Path) -> None:
        unpacked, root = folder / "unpacked", folder / "root"
        with stage(f"Fetching {package} for {target.name}"):
            archive.unpack(archive.fetch(packages, resolved), unpacked)
        to_link = [program.lstrip("/")]
        while to_link:
            name = to_link.pop()
            if not (root / name).exists():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(unpacked / name, root / name)
                to_link += _libraries(unpacked, unpacked / name)
        shutil.rmtree(unpacked)

    recipe = {"packages": resolved.files, "program": program, "version": RECIPE_VERSION}
    return cache.entry(f"nas-{package}-{target.name}", recipe, fill).path("root")


def _libraries(unpacked: Path, program: Path) -> list[str]:
    """Return the paths, below `unpacked`, of a program's interpreter and needed libraries."""
    with program.open("rb") as file:
        elf = ELFFile(file)
        interpreters = [part for part in elf.iter_segments() if isinstance(part, InterpSegment)]
        tables = [part for part in elf.iter_sections() if isinstance(part, DynamicSection)]
        names = [part.get_interp_name().lstrip("/") for part in interpreters]
        sonames = [vars(tag)["needed"] for part in tables for tag in part.iter_tags("DT_NEEDED")]
    return [*names, *(_library(unpacked, soname) for soname in sonames)]


def _library(unpacked: Path, soname: str) -> str:
    for path in sorted(unpacked.rglob(soname)):
        if path.is_file():
            return str(path.relative_to(unpacked))
    raise SetupError(f"no unpacked package has the library {soname}, which a program of the appliance needs")
