# SPDX-License-Identifier: Apache-2.0
"""Build a guest: fetch, build and cache its kernel, modules, programs and their archives.

Callers get a GuestImage of paths and digests. Must not know cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError

from flashbed.common.errors import InputError, SetupError
from flashbed.image import (
    debian_kernel,
    emulator,
    guest_parts,
    guest_programs,
    hosttools,
    initramfs,
    kernel,
    modules,
    own_kernel,
    program_root,
    stores,
)
from flashbed.image.cache import Cache, Entry
from flashbed.image.debian import Archive
from flashbed.image.guest_parts import PartError, ProgramSet
from flashbed.image.hosttools import MediaTool
from flashbed.image.initramfs import InitramfsFile
from flashbed.image.kernel import Kernel
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL, KernelChoice
from flashbed.workload.base import Root

_NO_PACKAGE = re.compile(r"Unable to locate package (\S+)|Package '?([^' ]+)'? has no installation candidate")

ROOT = "root"
"""The name of the root of programs in a key."""


@dataclass(frozen=True)
class GuestImage:
    """A built guest for one kernel version. Digests are SHA-256 of contents, so equal digests mean equal guests."""

    kernel: Kernel
    media_tool: MediaTool
    base: Path
    parts: Mapping[str, Path]
    digests: Mapping[str, str]
    emulator: Path | None = None
    """The emulator of another build; None: the one built on this host."""

    def archives(self, program_set: ProgramSet) -> Sequence[Path]:
        """Return the cpio archives of a cell that uses the program set `program_set`, without its job."""
        return [self.base, *(self.parts[name] for name in guest_parts.part_names(program_set))]

    def root(self, program_set: ProgramSet) -> Path | None:
        """Return the image of such a cell's root of programs; None if it has none."""
        return self.parts[guest_parts.root_part(program_set.root)] if program_set.root is not None else None

    def digest(self, program_set: ProgramSet) -> dict[str, str]:
        """Return the digests of the parts of such a cell, by name: kernel, base, its programs, modules and root."""
        digests = {name: self.digests[name] for name in ("kernel", "base", *guest_parts.part_names(program_set))}
        return (
            digests
            if program_set.root is None
            else {**digests, ROOT: self.digests[guest_parts.root_part(program_set.root)]}
        )

    def write_initramfs(self, program_set: ProgramSet, job: Mapping[str, bytes], to: Path) -> None:
        """Write the initramfs of a cell: the shared archives, followed by the files of `job` for /job."""
        initramfs.job_archive(job, to.with_suffix(".job"))
        with to.open("wb") as out:
            for part in (*self.archives(program_set), to.with_suffix(".job")):
                out.write(part.read_bytes())
        to.with_suffix(".job").unlink()


def build(
    version: str | KernelChoice,
    program_sets: Iterable[ProgramSet],
    *,
    thorough: bool = False,
    only_built: bool = False,
    first: KernelChoice | None = None,
    lines: bool = True,
) -> GuestImage:
    """Fetch and build each missing or broken part of the guest. Of the parts that cells choose, build only those that
    `program_sets` name.

    `version` is a version of Debian's kernel source package (6.1), a variant of it (6.1-debian), or a kernel of the
    user's. `first` is the kernel that a user's kernel is compared with, if it names none itself. With `lines`, that
    kernel is compiled once more to locate its changed lines. `thorough` also checks, file by file, what only later
    builds need.

    Raises PartError for an unknown module before anything is built, and for packages and programs; NotBuilt with
    `only_built`, if anything is missing.
    """
    wanted_sets = sorted(set(program_sets), key=repr)
    own_modules = dict(own for program_set in wanted_sets for own in program_set.own_modules)
    _check_own(wanted_sets)
    wanted_modules = {name for program_set in wanted_sets for name in program_set.modules if name not in own_modules}
    for name in sorted(wanted_modules):
        try:
            modules.check_names({name})
        except InputError as error:
            raise PartError(error.message, "module", name) from None
    cache = stores.open_cache(stores.BuiltOnly if only_built else Cache, thorough=thorough)
    archive = stores.open_archive(stores.NotedOnly if only_built else Archive)
    with nullcontext() if only_built or _is_built(version) else emulator.beside():
        # The programs before the kernel: a configure script leaves a core to the emulator's build
        tools = _tools(cache, archive, wanted_sets)
        built = _kernel(cache, archive, version, first, lines=lines and not only_built)
        return _guest(cache, archive, built, wanted_sets, tools, wanted_modules, own_modules)


def _is_built(version: str | KernelChoice) -> bool:
    """Return True if a kernel of the lab's is built. A user's kernel is not checked."""
    if not isinstance(version, str):
        return True
    try:
        _kernel(stores.open_cache(stores.BuiltOnly), stores.open_archive(stores.NotedOnly), version)
    except stores.NotBuilt:
        return False
    return True


def _tools(cache: Cache, archive: Archive, wanted_sets: Sequence[ProgramSet]) -> dict[str, list[InitramfsFile]]:
    """Return the programs of each set, by the name of their archive."""
    tools: dict[str, list[InitramfsFile]] = {}
    for program_set in wanted_sets:
        files = [
            InitramfsFile(f"/bin/{name}", guest_programs.BUILT[name](cache, archive).path(name))
            for name in program_set.built
        ]
        if program_set.programs:
            tree = _from_packages(cache, archive, program_set).folder / "root"
            files += [InitramfsFile(f"/{p.relative_to(tree)}", p) for p in sorted(tree.rglob("*")) if p.is_file()]
        tools[guest_parts.tools_name(program_set)] = files
    return tools


def _guest(
    cache: Cache,
    archive: Archive,
    built: Kernel,
    wanted_sets: Sequence[ProgramSet],
    tools: Mapping[str, list[InitramfsFile]],
    wanted_modules: Iterable[str],
    own_modules: Mapping[str, Path],
) -> GuestImage:
    """Return the guest with all parts but the kernel."""
    chosen = {
        **modules.build_chosen(cache, built, wanted_modules),
        **{name: _own_module(cache, built, name, folder) for name, folder in own_modules.items()},
    }
    busybox = guest_programs.from_packages(cache, archive, guest_programs.BUSYBOX_PACKAGES, ["/bin/busybox"]).path(
        "root/bin/busybox"
    )
    ours = {name: entry.path(name) for name, entry in guest_programs.of_each_guest(cache, archive).items()}
    base = initramfs.archive(cache, "base", initramfs.base_files(busybox, ours), system=True)
    digests = {"kernel": built.entry.digests[kernel.IMAGE], "base": base.digests[initramfs.ARCHIVE]}
    contents = dict(tools)
    for program_set in wanted_sets:
        if name := guest_parts.of_kernel(program_set):
            contents[name] = (
                debian_kernel.loaded(built, program_set)
                if built.modules
                else modules.loaded(
                    cache, built, program_set.of_kernel, [chosen[module] for module in program_set.modules]
                )
            )
    contents |= {guest_parts.module_part(name): [initramfs.module(name, path)] for name, path in chosen.items()}
    entries = {name: initramfs.archive(cache, name, files) for name, files in contents.items()}
    digests |= {name: entry.digests[initramfs.ARCHIVE] for name, entry in entries.items()}
    parts = {name: entry.path(initramfs.ARCHIVE) for name, entry in entries.items()}
    for program_set in wanted_sets:
        if program_set.root is not None and (name := guest_parts.root_part(program_set.root)) not in parts:
            entry = _root(cache, archive, program_set.root, dict(program_set.root_files))
            digests[name], parts[name] = entry.digests[program_root.ROOT_IMAGE], entry.path(program_root.ROOT_IMAGE)
    return GuestImage(built, hosttools.build(cache), base.path(initramfs.ARCHIVE), parts, digests)


def _kernel(
    cache: Cache,
    archive: Archive,
    version: str | KernelChoice,
    first: KernelChoice | None = None,
    *,
    lines: bool = False,
) -> Kernel:
    if isinstance(version, KernelChoice):
        return own_kernel.build(cache, archive, version, first, lines=lines)
    if version == DEBIAN_KERNEL:
        return debian_kernel.build(cache, archive)
    return kernel.build(cache, archive, version)


def _check_own(wanted_sets: Iterable[ProgramSet]) -> None:
    """Raise PartError if a study has two modules of the same name: one guest image has one module of a name."""
    folders: dict[str, Path | None] = {}
    for program_set in wanted_sets:
        own = dict(program_set.own_modules)
        for name in program_set.modules:
            if folders.setdefault(name, own.get(name)) != own.get(name):
                raise PartError(f"{name} is made from two folders in one study; give one another name", "module", name)
    for name, folder in folders.items():
        if folder is not None and name not in (makes := modules.made_in(folder)):
            made = f"it makes {', '.join(makes)}" if makes else "it has no Kbuild with a line obj-m := NAME.o"
            raise PartError(f"{name} does not come out of {folder}: {made}", "module", name)


def _own_module(cache: Cache, built: Kernel, name: str, folder: Path) -> Path:
    try:
        return modules.build_folder(cache, built, folder).path(f"{name}.ko")
    except modules.BuildError as error:
        why = f"{name} cannot be built from {folder} for the kernel {built.package_version}: {error.message}"
        raise PartError(why, "module", name) from None


def _from_packages(cache: Cache, archive: Archive, program_set: ProgramSet) -> Entry:
    """Return the archive with the packaged programs of a set. Raises PartError for a package that Debian does not have,
    and for a program that is missing or is not for arm64.
    """
    try:
        return guest_programs.from_packages(cache, archive, program_set.packages, program_set.programs)
    except (ELFError, UnicodeDecodeError):  # to find which program it is, each is tried alone
        for name in program_set.programs if len(program_set.programs) > 1 else ():
            _from_packages(cache, archive, program_set._replace(programs=(name,)))
        why = "is no program for arm64 (ELF): a script needs its interpreter as a program, too"
        raise PartError(f"{program_set.programs[0]} {why}", "programs", program_set.programs[0]) from None
    except guest_programs.NoProgramError as error:
        raise PartError(error.message, "programs", error.program) from None
    except SetupError as error:
        raise (_without_package(error) or error) from None


def _root(cache: Cache, archive: Archive, root: Root, files: Mapping[str, Path]) -> Entry:
    """Return the image of a root of programs. Raises PartError for what it cannot have."""
    try:
        return program_root.build(cache, archive, root, files)
    except SetupError as error:
        raise (_without_package(error) or error) from None


def _without_package(error: SetupError) -> PartError | None:
    """Return the error of a request to Debian's archive for a package that it does not have; None for another."""
    if not (missing := _NO_PACKAGE.search(error.message)):
        return None
    name = missing[1] or missing[2]
    return PartError(f"Debian's archive has no package {name}", "packages", name)
