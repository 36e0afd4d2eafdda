# SPDX-License-Identifier: Apache-2.0
"""Programs for the guest: fio and our own, built static; all others straight from Debian's packages with the
libraries they need.

Knows no file system by name: which packages and programs a cell wants stands in the file system's profile.
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
    "--disable-native",  # else it is built for the host's CPU and dies of an illegal instruction
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

FIO_COMPILER = f"{toolchain.PREFIX}gcc --sysroot={{sysroot}} -Wl,--build-id=none -ffile-prefix-map={{tree}}=."
"""The build ID is a hash that includes debug information, and so directories of the host."""

OWN_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s")

SFSLOAD_FLAGS = ("CFLAGS=-O2", "arm64")


def fio(cache: Cache, archive: Archive) -> Entry:
    """An entry with a static, stripped `fio`, from Debian's source package: Debian's binary drags 75 MB of libraries
    along.
    """
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
                raise SetupError(f"fio's configure does not know an option of ours:\n{output[-800:]}")
            run(["make", f"-j{os.cpu_count()}", "fio"], cwd=tree, env=of_suite.environment())
        shutil.move(tree / "fio", folder / "fio")
        run([f"{toolchain.PREFIX}strip", folder / "fio"], env=of_suite.environment())
        shutil.rmtree(tree)

    return cache.entry(f"fio-{resolved.version('fio')}", recipe, fill, products=["fio"])


def fio_patches(version: str) -> list[Path]:
    """What is mended in fio of this Debian version, such as 3.33-3: guest/patches/fio-3.33/*.patch, by name."""
    return sorted((paths.guest() / "patches" / f"fio-{version.partition('-')[0]}").glob("*.patch"))


def own(cache: Cache, archive: Archive, source: Path, *headers: Path) -> Entry:
    """An entry with a program of ours, of one C file and headers beside it, under the file's name without .c."""
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
        run([f"{toolchain.PREFIX}gcc", *arguments], env=of_suite.environment())

    return cache.entry(name, recipe, fill, products=[name])


def bonnie(cache: Cache, archive: Archive) -> Entry:
    """An entry with `bonnie`, of ours: it carries out the sequence of Bonnie."""
    return own(cache, archive, paths.guest() / "bonnie.c", paths.guest() / "load.h")


def fxmark(cache: Cache, archive: Archive) -> Entry:
    """An entry with `fxmark`, of ours: it asks what FxMark asks."""
    return own(cache, archive, paths.guest() / "fxmark.c", paths.guest() / "load.h")


def age(cache: Cache, archive: Archive) -> Entry:
    """An entry with `age`, of ours: it uses a file system until it is no longer new."""
    return own(cache, archive, paths.guest() / "age.c")


def poweron(cache: Cache, archive: Archive) -> Entry:
    """An entry with `poweron`, of ours: it notes how long the machine has been on."""
    return own(cache, archive, paths.guest() / "poweron.c")


def sfsload(cache: Cache, archive: Archive) -> Entry:
    """An entry with `sfsload`, of ours: it puts a load on an NFS server."""
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
        run([f"{toolchain.PREFIX}strip", folder / "sfsload"], env=of_suite.environment())
        shutil.rmtree(folder / "build")
        shutil.rmtree(tree)

    return cache.entry("sfsload", recipe, fill, products=["sfsload"])


OF_EACH_GUEST = ("outbox", "medium", "receive")
"""Programs of ours that every guest has: one hands out what a cell leaves, one says a word to the emulator's medium,
one writes out what the emulator has for the guest.
"""


def of_each_guest(cache: Cache, archive: Archive) -> dict[str, Entry]:
    """Entries with these, by name."""
    return {name: own(cache, archive, paths.guest() / f"{name}.c") for name in OF_EACH_GUEST}


BUILT = {"fio": fio, "bonnie": bonnie, "fxmark": fxmark, "sfsload": sfsload, "age": age, "poweron": poweron}
"""Programs that cells choose and that are built from their sources, by name: what builds them."""


def from_packages(cache: Cache, archive: Archive, packages: Sequence[str], programs: Sequence[str]) -> Entry:
    """An entry whose `root` holds `programs` (absolute paths in the guest) and every shared library they need,
    nothing else.

    Raises SetupError when a package does not have a program, or no package has a library.
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
    """Paths below `unpacked` of the programs, their ELF interpreters and, transitively, their shared libraries."""
    found: set[str] = set()
    wanted = [_resolve(unpacked, program.lstrip("/")) for program in programs]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        found.add(name)
        with (unpacked / name).open("rb") as file:
            elf = ELFFile(file)
            for segment in elf.iter_segments("PT_INTERP"):
                assert isinstance(segment, InterpSegment)
                wanted.append(_resolve(unpacked, segment.get_interp_name().lstrip("/")))
            dynamic = elf.get_section_by_name(".dynamic")
            if isinstance(dynamic, DynamicSection):
                places = [*LIBRARY_FOLDERS, *_run_path(dynamic)]
                wanted += [_library(unpacked, vars(tag)["needed"], places) for tag in dynamic.iter_tags("DT_NEEDED")]
    return found


def _resolve(unpacked: Path, name: str) -> str:
    if not (unpacked / name).is_file():
        raise SetupError(f"no package has the program /{name} that the guest is to have")
    return name


def _run_path(dynamic: DynamicSection) -> list[str]:
    """Where a program says that its own libraries lie, seen from the root."""
    paths_said = [vars(tag)["runpath"] for tag in dynamic.iter_tags("DT_RUNPATH")]
    return [path.lstrip("/") for said in paths_said for path in said.split(":")]


def _library(unpacked: Path, soname: str, folders: Sequence[str]) -> str:
    for folder in folders:
        if (unpacked / folder / soname).is_file():
            return f"{folder}/{soname}"
    raise SetupError(f"no package has the library {soname} that a guest program needs")
