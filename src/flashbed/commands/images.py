# SPDX-License-Identifier: Apache-2.0
"""What the commands `flashbed image` do: build the image of guests, lock its versions, write it into a file, and take
such a file in; and FLASHBED_IMAGE.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from flashbed.common import atomic, paths
from flashbed.common.errors import FlashbedError, InputError
from flashbed.common.page import Rows
from flashbed.common.units import rough_size
from flashbed.execution import pinning, run
from flashbed.execution.cell_medium import check_command
from flashbed.execution.repetition import Repetition
from flashbed.image import emulator, guest_image, hosttools, lockfile, stores, toolchain
from flashbed.image.cache import noting
from flashbed.machine import checker
from flashbed.packs import image_file, making
from flashbed.profiles import kernel_choice
from flashbed.profiles.library import Library
from flashbed.study import host_commands
from flashbed.study.loading import Study, find_study, load_study


def check_kernel(version: str) -> None:
    """Raise InputError for an unknown kernel, before Debian is asked, whose answer would be in apt's terms."""
    try:
        kernel_choice.check_offered(version)
    except kernel_choice.KernelProblem as problem:
        raise InputError(f"--kernel: {problem}") from None


def build(version: str) -> Rows:
    """Build the guest with all parts that may go with this kernel. Return the names and digests of its parts."""
    built = guest_image.build(version, pinning.sets_of_guests(version), thorough=True)
    return [
        ("emulator", f"QEMU {emulator.VERSION}, {emulator.program()}"),
        ("kernel", f"{built.kernel.package_version}, {built.kernel.image}"),
        *sorted(built.digests.items()),
    ]


def build_for(names: Sequence[str]) -> Rows:
    """Build the guests of studies. Return each study with the number of its repetitions. Raises InputError."""
    return [(study.name, f"{len(prepared)} repetitions can be measured") for study, prepared in _prepared(names)]


def _prepared(names: Sequence[str]) -> list[tuple[Study, list[Repetition]]]:
    """Read all studies, and then build the guests of each. Raises InputError, also for a build that is not allowed."""
    studies = [load_study(find_study(name)) for name in names]
    for study in studies:
        host_commands.check(study)
    return [(study, run.prepare(study, lines=False)) for study in studies]


def is_built(version: str) -> bool:
    """Return True if `build` would fetch nothing. Builds nothing."""
    try:
        return paths.cache_root().is_dir() and bool(
            guest_image.build(version, pinning.sets_of_guests(version), only_built=True)
        )
    except FlashbedError:
        return False


def write_lock(study: str | None) -> str:
    """Write the lock of a study, or the repository's own, and return a line about it. Raises InputError for one of the
    repository's own studies: they share one lock.
    """
    own = None if study is None else load_study(_of_the_user(find_study(study)))
    lock = pinning.lock_shipped() if own is None else pinning.lock_study(own)
    lockfile.write(lock)
    files = {file.name for requests in lock.requests.values() for files in requests.values() for file in files}
    return f"{lock.path}: {len(files)} files of Debian {lock.suite}, {len(lock.profiles)} profiles, the lab's sources"


def _of_the_user(file: Path) -> Path:
    if os.path.realpath(file.parent) == os.path.realpath(paths.studies()):
        raise InputError(
            f"{file}: its lock is {lockfile.shipped_path()}, as of all studies there; `flashbed image lock` writes it"
        )
    return file


def update_packages() -> str:
    """Forget the noted versions of packages, and update the repository's lock to today's versions. If that fails, leave
    both as they were.
    """
    lockfile.choose_pins(pinning.without_packages())
    archive = stores.open_archive()
    with archive.without_versions(), archive.of(toolchain.HOST).without_versions():
        return write_lock(None)


def export(to: Path, names: Sequence[str], kernel: str) -> str:
    """Write the image that these studies need to the file `to`; without studies, the image of a kernel with all file
    systems. Return a line about it. Raises InputError, SetupError, HostResourceError.
    """
    making.prepare(to)
    with noting() as entries:
        if names:
            repetitions = [repetition for _, prepared in _prepared(names) for repetition in prepared]
            commands = [check_command(repetition.cell, Path()) for repetition in repetitions]
        else:
            guest_image.build(kernel, pinning.sets_of_guests(kernel), thorough=True)
            library = Library((paths.profiles(),))
            commands = [library.filesystem(name).check_command(Path()) for name in library.names("filesystem")]
        emulator.program()
        hosttools.media_tool()
    checkers = checker.installed(sorted({command[0] for command in commands if command}), paths.checkers())
    with TemporaryDirectory(prefix="flashbed-image-") as scratch:
        size = image_file.write(to, entries, checkers, Path(scratch))
    return f"{to}: {rough_size(size)}. `flashbed image import {to.name}` takes it in on another x86_64 Linux."


def take_in(path: Path) -> Iterator[str]:
    """Take in the image in a file. Yield lines about the result. Raises InputError, HostResourceError."""
    done = image_file.take_in(path)
    yield f"{path}: {len(done.new)} parts taken in, {len(done.known)} were here"
    if done.different:
        yield f"built here with other bytes, and kept: {', '.join(done.different)}"
    if done.other_packages:
        other = ", ".join(sorted(done.other_packages)[:5])
        yield f"other versions were noted here before, and are kept: {other}; what is made of these is built here"


def take_in_once(path: Path) -> None:
    """Take in the image that FLASHBED_IMAGE names, unless that file was taken in before. Raises InputError."""
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(
            f"FLASHBED_IMAGE={path}: {error.strerror}; `flashbed image export -o FILE` makes one"
        ) from None
    mark = paths.cache_root() / "image" / "taken-in"
    identity = f"{path.resolve()} {state.st_size} {state.st_mtime_ns}\n"
    if mark.is_file() and mark.read_text() == identity:
        return
    image_file.take_in(path)
    atomic.write(mark, identity.encode())
