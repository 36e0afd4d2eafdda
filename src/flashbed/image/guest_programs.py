# SPDX-License-Identifier: Apache-2.0
"""Provide the guest's programs: fio and the lab's own are built static; all others come from Debian's packages, with
the libraries that they need.

Knows no file system by name. A file system's profile names the packages and programs that its cells need.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError
from flashbed.common.progress import stage
from flashbed.image import toolchain
from flashbed.image.cache import Cache, Entry, digest_tree
from flashbed.image.command import run
from flashbed.image.debian import Archive

LIBRARY_FOLDERS = ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib", "usr/lib")

RECIPE_VERSION = 1
"""Raise it if a function of this module makes other files of the same sources, packages and options."""

BUSYBOX_PACKAGES = ("busybox-static",)

FIO_OPTIONS = (
    "--build-static",
    "--disable-native",  # otherwise it is built for the host's CPU, and dies of an illegal instruction
    "--disable-numa",
    "--disable-rdma",
    "--disable-rados",
    "--disable-rbd",
    "--disable-http",
    "--disable-gfapi",
    "--disable-libnfs",
    "--disable-pmem",
    "--disable-xnvme",
    "--disable-lex",
    "--disable-shm",
)

FIO_COMPILER = f"{toolchain.CROSS_PREFIX}gcc --sysroot={{sysroot}} -Wl,--build-id=none -ffile-prefix-map={{tree}}=."
"""The build ID is a hash that includes debug information, and so directories of the host."""

OWN_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s")

SFSLOAD_FLAGS = ("CFLAGS=-O2", "arm64")


def fio(cache: Cache, archive: Archive) -> Entry:
    """Build a static, stripped `fio` from Debian's source package. Debian's binary needs 75 MB of libraries."""
    resolved = archive.resolve(["fio"], source=True)
    root = toolchain.sysroot(cache, archive)
    of_suite = toolchain.compiler(cache, archive)
    patches = fio_patches(resolved.version("fio"))
    recipe = {
        "source": resolved.files,
        "patches": [digest_file(patch) for patch in patches],
        "sysroot": root.digests,
        "options": FIO_OPTIONS,
        "compiler": of_suite.identity,
        "command": FIO_COMPILER,
        "version": RECIPE_VERSION,
    }

    def fill(folder: Path) -> None:
        dsc = next(path for path in archive.fetch(["fio"], resolved, source=True) if path.suffix == ".dsc")
        tree = folder / "tree"
        with stage("Building fio"):
            run(["dpkg-source", "--no-check", "--no-copy", "-x", dsc, tree])  # apt has checked the signature
            for patch in patches:
                run(["patch", "-p1", "-i", patch], cwd=tree)
            compiler = FIO_COMPILER.format(sysroot=root.folder, tree=tree)
            output = run(["./configure", f"--cc={compiler}", *FIO_OPTIONS], cwd=tree, env=of_suite.environment())
            if "unrecognized" in output or "unknown option" in output:
                raise SetupError(f"fio's configure does not know an option of the lab:\n{output[-800:]}")
            run(["make", f"-j{os.cpu_count()}", "fio"], cwd=tree, env=of_suite.environment())
        shutil.move(tree / "fio", folder / "fio")
        run([f"{toolchain.CROSS_PREFIX}strip", folder / "fio"], env=of_suite.environment())
        shutil.rmtree(tree)

    return cache.entry(f"fio-{resolved.version('fio')}", recipe, fill, products=["fio"])


def fio_patches(version: str) -> list[Path]:
    """Return the patches for fio of a Debian version, such as 3.33-3: guest/patches/fio-3.33/*.patch."""
    return sorted((paths.guest() / "patches" / f"fio-{version.partition('-')[0]}").glob("*.patch"))


def own(cache: Cache, archive: Archive, source: Path, *headers: Path) -> Entry:
    """Build a program of the lab from one C file and headers beside it. It has the file's name without .c."""
    name = source.stem
    root, of_suite = toolchain.sysroot(cache, archive), toolchain.compiler(cache, archive)
    recipe = {
        "source": digest_tree(source, *headers),
        "sysroot": root.digests,
        "compiler": of_suite.identity,
        "flags": OWN_FLAGS,
        "version": RECIPE_VERSION,
    }

    def fill(folder: Path) -> None:
        arguments = [f"--sysroot={root.folder}", *OWN_FLAGS, "-o", str(folder / name), str(source)]
        run([f"{toolchain.CROSS_PREFIX}gcc", *arguments], env=of_suite.environment())

    return cache.entry(name, recipe, fill, products=[name])


def bonnie(cache: Cache, archive: Archive) -> Entry:
    """Build the lab's `bonnie`, which executes the sequence of Bonnie."""
    return own(cache, archive, paths.guest() / "bonnie.c", paths.guest() / "load.h")


def fxmark(cache: Cache, archive: Archive) -> Entry:
    """Build the lab's `fxmark`, which makes the requests of FxMark."""
    return own(cache, archive, paths.guest() / "fxmark.c", paths.guest() / "load.h")


def age(cache: Cache, archive: Archive) -> Entry:
    """Build the lab's `age`, which ages a file system."""
    return own(cache, archive, paths.guest() / "age.c")


def replay(cache: Cache, archive: Archive) -> Entry:
    """Build the lab's `replay`, which repeats the calls of a trace."""
    return own(cache, archive, paths.guest() / "replay.c", paths.guest() / "load.h")


def launch(cache: Cache, archive: Archive) -> Entry:
    """Build the lab's `launch`, which runs the user's programs in their root."""
    return own(cache, archive, paths.guest() / "launch.c", paths.guest() / "load.h")


def poweron(cache: Cache, archive: Archive) -> Entry:
    """Build the lab's `poweron`, which notes the time since the machine was switched on."""
    return own(cache, archive, paths.guest() / "poweron.c")


def sfsload(cache: Cache, archive: Archive) -> Entry:
    """Build the lab's `sfsload`, which puts a load on an NFS server."""
    root, of_suite = toolchain.sysroot(cache, archive), toolchain.compiler(cache, archive)
    sources = [paths.sfsload() / name for name in ("Makefile", "src")]
    recipe = {
        "sources": digest_tree(*sources),
        "sysroot": root.digests,
        "compiler": of_suite.identity,
        "flags": SFSLOAD_FLAGS,
        "version": RECIPE_VERSION,
    }

    def fill(folder: Path) -> None:
        tree = folder / "tree"
        shutil.copytree(paths.sfsload(), tree, ignore=shutil.ignore_patterns("build", "tests"))
        with stage("Building sfsload"):
            where = (f"BUILD={folder / 'build'}", f"SYSROOT={root.folder}")
            run(["make", "-C", tree, f"-j{os.cpu_count()}", *where, *SFSLOAD_FLAGS], env=of_suite.environment())
        shutil.move(folder / "build" / "sfsload-arm64", folder / "sfsload")
        run([f"{toolchain.CROSS_PREFIX}strip", folder / "sfsload"], env=of_suite.environment())
        shutil.rmtree(folder / "build")
        shutil.rmtree(tree)

    return cache.entry("sfsload", recipe, fill, products=["sfsload"])


OF_EACH_GUEST = ("outbox", "medium", "receive")
"""The lab's programs in every guest: one passes a cell's files to the host, one sends a command to the emulator's
medium, one writes the files that the emulator has for the guest.
"""


def of_each_guest(cache: Cache, archive: Archive) -> dict[str, Entry]:
    """Build the programs of OF_EACH_GUEST. Return their entries by name."""
    return {name: own(cache, archive, paths.guest() / f"{name}.c") for name in OF_EACH_GUEST}


BUILT = {
    "fio": fio,
    "bonnie": bonnie,
    "fxmark": fxmark,
    "replay": replay,
    "launch": launch,
    "sfsload": sfsload,
    "age": age,
    "poweron": poweron,
}
"""The functions that build the programs that cells choose, by the program's name."""


class NoProgramError(SetupError):
    """No package has a program that the guest needs."""

    def __init__(self, program: str) -> None:
        super().__init__(f"no package has the program {program}, which the guest needs")
        self.program = program


def from_packages(cache: Cache, archive: Archive, packages: Sequence[str], programs: Sequence[str]) -> Entry:
    """Return an entry whose `root` has exactly `programs` (absolute paths in the guest) and the shared libraries that
    they need.

    Raises NoProgramError if no package has one of the programs, SetupError if none has one of their libraries.
    """
    resolved = archive.resolve(sorted(packages))
    recipe = {
        "packages": resolved.files,
        "programs": sorted(programs),
        "library folders": LIBRARY_FOLDERS,
        "version": RECIPE_VERSION,
    }

    def fill(folder: Path) -> None:
        unpacked = folder / "unpacked"
        with stage(f"Fetching {', '.join(packages)} for the guest"):
            archive.unpack(archive.fetch(sorted(packages), resolved), unpacked)
        for name in sorted(_closure(unpacked, programs)):
            to = folder / "root" / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(unpacked / name, to)
            to.chmod(0o755)
        shutil.rmtree(unpacked)

    return cache.entry(f"programs-{'-'.join(sorted(packages))}", recipe, fill)


def _closure(unpacked: Path, programs: Sequence[str]) -> set[str]:
    """Return the paths below `unpacked` of the programs, their ELF interpreters, and all shared libraries that they
    need directly or indirectly.
    """
    names: set[str] = set()
    to_resolve = [_resolve(unpacked, program.lstrip("/")) for program in programs]
    while to_resolve:
        name = to_resolve.pop()
        if name in names:
            continue
        names.add(name)
        with (unpacked / name).open("rb") as file:
            elf = ELFFile(file)
            for segment in elf.iter_segments("PT_INTERP"):
                assert isinstance(segment, InterpSegment)
                to_resolve.append(_resolve(unpacked, segment.get_interp_name().lstrip("/")))
            dynamic = elf.get_section_by_name(".dynamic")
            if isinstance(dynamic, DynamicSection):
                places = [*LIBRARY_FOLDERS, *_run_path(dynamic)]
                to_resolve += [
                    _library(unpacked, vars(tag)["needed"], places) for tag in dynamic.iter_tags("DT_NEEDED")
                ]
    return names


def _resolve(unpacked: Path, name: str) -> str:
    if not (unpacked / name).is_file():
        raise NoProgramError(f"/{name}")
    return name


def _run_path(dynamic: DynamicSection) -> list[str]:
    """Return the directories of a program's DT_RUNPATH, relative to the root."""
    run_paths = [vars(tag)["runpath"] for tag in dynamic.iter_tags("DT_RUNPATH")]
    return [path.lstrip("/") for run_path in run_paths for path in run_path.split(":")]


def _library(unpacked: Path, soname: str, folders: Sequence[str]) -> str:
    for folder in folders:
        if (unpacked / folder / soname).is_file():
            return f"{folder}/{soname}"
    raise SetupError(f"no package has the library {soname}, which a guest program needs")
