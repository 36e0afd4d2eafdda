# SPDX-License-Identifier: Apache-2.0
"""Hold a study to its lock: list the requests of its guests to Debian's archive, compare the lock with this host's
files, and make a lock of the files used here.

Must not know apt, nor how anything is built.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import InputError, SetupError
from flashbed.execution import repetition
from flashbed.image import (
    debian_kernel,
    emulator,
    guest_programs,
    lockfile,
    modules,
    own_module,
    program_root,
    stores,
    toolchain,
)
from flashbed.image.debian import Archive, Packages, asked
from flashbed.image.guest_parts import ProgramSet
from flashbed.image.lockfile import Lockfile, Pins
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL, KERNELS, NAS_KERNELS
from flashbed.profiles.library import FOLDERS, Library, Selector
from flashbed.study.loading import Study, shipped_studies
from flashbed.study.plan import Cell, plan

_log = logging.getLogger("flashbed")


def keep_to(study: Study, *, strict: bool, quiet: bool = False) -> None:
    """Make this process take its inputs from the lock of `study`.

    Warn of files whose content differs from the lock, unless `quiet`. If `strict`, raise SetupError for them, and
    InputError if there is no lock. Raises InputError for a damaged lock.
    """
    path = lockfile.path_for(study.path)
    if not path.is_file():
        if strict:
            raise InputError(f"{path}: there is no lock to keep to; `flashbed image lock` writes one")
        lockfile.choose_pins(None)
        return
    lock = lockfile.read(path)
    lockfile.choose_pins(Pins(lock, strict=strict))
    if quiet or not (other := list(differences(lock, study))):
        return
    text = f"{path}: was written for other files than are here: {', '.join(other)}"
    if strict:
        command = f"flashbed image lock {study.path}" if _is_own(lock) else "flashbed image lock"
        raise SetupError(
            f"{text}. Take them back to what it was written for (git says what changed), or let `{command}` write it "
            "anew; without --locked this is a caution."
        )
    _log.warning("%s; figures may be others than those of the lock", text)


def differences(lock: Lockfile, study: Study) -> Iterator[str]:
    """Yield the names of the lab's own files, and of the study's profiles and modules, that differ from the lock. Only
    a study's own lock has the user's profiles and modules.
    """
    here = lockfile.own_sources()
    yield from (name for name in sorted(here) if lock.sources.get(name, here[name]) != here[name])
    yield from (f"{name} (not here)" for name in sorted(lock.sources) if name not in here)
    yield from (f"{name} (not in it)" for name in sorted(here) if lock.sources and name not in lock.sources)
    for name, file in profiles_of(study):
        if name not in lock.profiles:
            if _is_own(lock) or paths.profiles() in file.parents:
                yield f"profile {name} (not in it)"
        elif lock.profiles[name] != digest_file(file):
            yield f"profile {name}"
    for name, folder in modules_of(study) if _is_own(lock) else ():
        if name not in lock.modules:
            yield f"module {name} of {folder} (not in it)"
        elif lock.modules[name] != own_module.digest(folder):
            yield f"module {name} of {folder}"


def _is_own(lock: Lockfile) -> bool:
    """Return True if the lock is that of one study."""
    return lock.path != lockfile.shipped_path()


def profiles_of(study: Study) -> Iterator[tuple[str, Path]]:
    """Yield the profiles that a study uses: "KIND/NAME", and the file."""
    for kind, folder in FOLDERS.items():
        names = {Selector.parse(text).name for text in study.values_of(kind)}
        for name in sorted(names):
            yield f"{folder}/{name}", study.library.file(kind, name).path


def modules_of(study: Study) -> Iterator[tuple[str, Path]]:
    """Yield the user's modules in a study: the name, and the directory of its source."""
    yield from sorted({module for cell in plan(study) for module in repetition.own_modules(cell)})


def lock_study(study: Study) -> Lockfile:
    """Return a lock for the file beside a study, of the files that are used for it here. Write nothing."""
    profiles = {name: digest_file(file) for name, file in profiles_of(study)}
    brought = {name: own_module.digest(folder) for name, folder in modules_of(study)}
    return replace(_lock(study.path.with_suffix(lockfile.LOCK_SUFFIX), profiles, [study]), modules=brought)


def lock_shipped() -> Lockfile:
    """Return the lock of the repository's own studies, of the files that are used here. Write nothing."""
    more = sets_of_filesystems()
    return _lock(
        lockfile.shipped_path(), lockfile.shipped_profiles(), shipped_studies(), (*KERNELS, *NAS_KERNELS), more
    )


def sets_of_guests(version: str) -> set[ProgramSet]:
    """Return the sets of parts that guests with this kernel of the lab may have. For a kernel for servers, these are
    the sets of the shipped studies; for any other, the programs of all file systems, and every module. Debian's kernel
    counts as both, and no module is built for it.
    """
    if version not in NAS_KERNELS:
        chosen = modules.to_choose().keys() - {modules.OF_PROGRAMS}
        return sets_of_filesystems() | {ProgramSet((), (), (module,)) for module in chosen}
    cells = (cell for study in shipped_studies() for cell in plan(study))
    of_studies = {repetition.program_set(cell) for cell in cells if cell.kernel == version}
    return of_studies | sets_of_filesystems() if version == DEBIAN_KERNEL else of_studies


def sets_of_filesystems() -> set[ProgramSet]:
    """Return the programs of each shipped file system."""
    library = Library((paths.profiles(),))
    systems = [library.filesystem(name) for name in library.names("filesystem")]
    return {ProgramSet(system.packages, system.programs) for system in systems}


def _lock(
    path: Path,
    profiles: Mapping[str, str],
    studies: Iterable[Study],
    kernels: Iterable[str] = (),
    more: Iterable[ProgramSet] = (),
) -> Lockfile:
    """Return a lock of the packages that these studies need, and of those of more kernels and sets of parts."""
    cells = [cell for study in studies for cell in plan(study)]
    versions = sorted({*kernels, *(version for cell in cells if (version := _of_archive(cell)))})
    sets = sorted({*more, *(repetition.program_set(cell) for cell in cells)})
    archive = stores.open_archive()
    requests_by_architecture: dict[str, dict[str, tuple[lockfile.ArchiveFile, ...]]] = {}
    for request in requests_of_guests(archive, versions, sets):
        requests_by_architecture.setdefault(request.architecture, {})[request.name] = request.files(archive).in_archive
    return Lockfile(path, lockfile.current_pins().suite, lockfile.own_sources(), profiles, requests_by_architecture)


def _of_archive(cell: Cell) -> str:
    """Return the version of a cell's Linux from Debian's archive; "" if its kernel is built from a user's tree."""
    return cell.kernel if cell.own_kernel is None or cell.own_kernel.tree is None else ""


def without_packages() -> Pins:
    """Return the current pins without packages, so that Debian's archive is asked again."""
    lock = lockfile.current_pins().lock
    return Pins(replace(lock, requests={}) if lock else None)


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


def requests_of_guests(archive: Archive, kernels: Iterable[str], sets: Iterable[ProgramSet]) -> list[PackageRequest]:
    """Return the requests of the emulator and of guests with these kernels and programs, each once. `archive` has the
    present name of Debian's kernel.
    """
    requests = [PackageRequest((emulator.SOURCE,), source=True), PackageRequest(toolchain.SYSROOT_PACKAGES)]
    requests.append(PackageRequest(toolchain.COMPILER_PACKAGES, architecture=toolchain.HOST))
    requests.append(PackageRequest(guest_programs.BUSYBOX_PACKAGES))
    for version in kernels:
        if of_debian := re.match(r"\d+\.\d+", version):
            requests.append(PackageRequest((f"linux-source-{of_debian[0]}",), alone=True))
        if version == DEBIAN_KERNEL:
            requests.append(PackageRequest((debian_kernel.KERNEL_PACKAGE,), alone=True))
            requests.append(PackageRequest((debian_kernel.wanted(archive),), alone=True))
    for program_set in sets:
        if "fio" in program_set.built:
            requests.append(PackageRequest(("fio",), source=True))
        if program_set.programs:
            requests.append(PackageRequest(tuple(sorted(program_set.packages))))
        if program_set.root is not None:
            requests.append(PackageRequest(program_root.packages_of(program_set.root)))
            requests.append(PackageRequest(program_root.MAKER_PACKAGES, architecture=toolchain.HOST))
    return list(dict.fromkeys(requests))
