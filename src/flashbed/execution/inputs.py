# SPDX-License-Identifier: Apache-2.0
"""The lock that a study is under: what it names beside what is here, and a lock of what is used here.

Must not know apt, nor how anything is built.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.common.errors import InputError, SetupError
from flashbed.execution import repetition
from flashbed.image import lockfile, modules, own_module, own_sources, pins, requests, stores
from flashbed.image.guest_parts import ProgramSet
from flashbed.image.lockfile import Lockfile
from flashbed.image.pins import Pins
from flashbed.profiles.kernel_choice import DEBIAN_KERNEL, KERNELS, NAS_KERNELS
from flashbed.profiles.library import FOLDERS, Library, Selector
from flashbed.study.loading import Study, shipped_studies
from flashbed.study.plan import Cell, plan

_log = logging.getLogger("flashbed")


def keep_to(study: Study, *, strict: bool, quiet: bool = False) -> None:
    """From now on this process takes inputs from the lock that `study` is under.

    What is of another content here than it says is told, unless `quiet`; or raised as SetupError, if `strict`. Raises
    InputError for a damaged lock, or if there is none to be strict about.
    """
    path = pins.path_for(study.path)
    if not path.is_file():
        if strict:
            raise InputError(f"{path}: there is no lock to keep to; `flashbed image lock` writes one")
        pins.choose(None)
        return
    lock = lockfile.read(path)
    pins.choose(Pins(lock, strict=strict))
    if quiet or not (other := list(differences(lock, study))):
        return
    told = f"{path}: was written for other files than are here: {', '.join(other)}"
    if strict:
        command = f"flashbed image lock {study.path}" if _is_own(lock) else "flashbed image lock"
        raise SetupError(
            f"{told}. Take them back to what it was written for (git says what changed), or let `{command}` write it "
            "anew; without --locked this is a caution."
        )
    _log.warning("%s; figures may be others than those of the lock", told)


def differences(lock: Lockfile, study: Study) -> Iterator[str]:
    """What of the lab's own files, and of the profiles and modules that a study uses, is not what the lock says. Only
    its own lock can know the profiles and modules that it brings.
    """
    here = own_sources.sources()
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
    """Whether it is that of one study."""
    return lock.path != pins.shipped_path()


def profiles_of(study: Study) -> Iterator[tuple[str, Path]]:
    """The profiles that a study uses, by kind and name."""
    for kind, folder in FOLDERS.items():
        names = {Selector.parse(text).name for text in study.values_of(kind)}
        for name in sorted(names):
            yield f"{folder}/{name}", study.library.file(kind, name).path


def modules_of(study: Study) -> Iterator[tuple[str, Path]]:
    """The modules that a study brings, by name, with the folder of each one's source."""
    yield from sorted({own for cell in plan(study) for own in repetition.own_modules(cell)})


def lock_study(study: Study) -> Lockfile:
    """A lock beside a study, of what is used for it here. Not written yet."""
    profiles = {name: digest_file(file) for name, file in profiles_of(study)}
    brought = {name: own_module.digest(folder) for name, folder in modules_of(study)}
    return replace(_lock(study.path.with_suffix(pins.ENDING), profiles, [study]), modules=brought)


def lock_shipped() -> Lockfile:
    """The lock of the repository's own studies, of what is used here. Not written yet."""
    more = sets_of_filesystems()
    return _lock(pins.shipped_path(), own_sources.shipped_profiles(), shipped_studies(), (*KERNELS, *NAS_KERNELS), more)


def sets_of_guests(version: str) -> set[ProgramSet]:
    """What guests with this kernel of the lab's may have: of a kernel for servers, what the shipped studies give it; of
    any other, the programs of all file systems, and every module. Debian's is both, and no module is built for it.
    """
    if version not in NAS_KERNELS:
        return sets_of_filesystems(tuple(modules.to_choose()))
    cells = (cell for study in shipped_studies() for cell in plan(study))
    of_studies = {repetition.program_set(cell) for cell in cells if cell.kernel == version}
    return of_studies | sets_of_filesystems() if version == DEBIAN_KERNEL else of_studies


def sets_of_filesystems(chosen: tuple[str, ...] = ()) -> set[ProgramSet]:
    """The programs of each shipped file system, all with the modules `chosen`."""
    library = Library((paths.profiles(),))
    systems = [library.filesystem(name) for name in library.names("filesystem")]
    return {ProgramSet(system.packages, system.programs, chosen) for system in systems}


def _lock(
    path: Path,
    profiles: Mapping[str, str],
    studies: Iterable[Study],
    kernels: Iterable[str] = (),
    more: Iterable[ProgramSet] = (),
) -> Lockfile:
    """Of what these studies ask for, and of these kernels and programs besides."""
    cells = [cell for study in studies for cell in plan(study)]
    versions = sorted({*kernels, *(version for cell in cells if (version := _of_archive(cell)))})
    sets = sorted({*more, *(repetition.program_set(cell) for cell in cells)})
    archive = stores.open_archive()
    asked: dict[str, dict[str, tuple[lockfile.File, ...]]] = {}
    for one in requests.of_guests(archive, versions, sets):
        asked.setdefault(one.architecture, {})[one.name] = one.files(archive).in_archive
    return Lockfile(path, pins.current().suite, own_sources.sources(), profiles, asked)


def _of_archive(cell: Cell) -> str:
    """The version of Linux that a cell has from Debian's archive; none if its kernel is out of a tree of the user's."""
    return cell.kernel if cell.own_kernel is None or cell.own_kernel.tree is None else ""


def without_packages() -> Pins:
    """The lock as it is, but for what Debian's archive gave: that is asked for anew."""
    lock = pins.current().lock
    return Pins(replace(lock, requests={}) if lock else None)
