# SPDX-License-Identifier: Apache-2.0
"""What the commands `flashbed image` do: build the image of guests, lock its versions, write it into a file, and take
such a file in; and FLASHBED_IMAGE.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from flashbed.common import atomic, paths, programs
from flashbed.common.errors import FlashbedError, InputError
from flashbed.common.units import rough_size
from flashbed.execution import inputs, run
from flashbed.image import emulator, guest_image, hosttools, lockfile, pins, stores, toolchain
from flashbed.image.cache import noting
from flashbed.packs import image_file, making
from flashbed.profiles import kernel_choice
from flashbed.profiles.library import Library
from flashbed.study.loading import load_study
from flashbed.study.plan import plan


def check_kernel(version: str) -> None:
    """Raise InputError for an unknown kernel, before Debian is asked, whose answer would be in apt's terms."""
    try:
        kernel_choice.check_offered(version)
    except kernel_choice.KernelProblem as problem:
        raise InputError(f"--kernel: {problem}") from None


def build(version: str) -> list[tuple[str, ...]]:
    """Build the guest with all parts that may go with this kernel. Return the names and digests of its parts."""
    built = guest_image.build(version, inputs.sets_of_guests(version), thorough=True)
    return [
        ("emulator", f"QEMU {emulator.VERSION}, {emulator.program()}"),
        ("kernel", f"{built.kernel.package_version}, {built.kernel.image}"),
        *sorted(built.digests.items()),
    ]


def is_built(version: str) -> bool:
    """Return True if `build` would fetch nothing. Builds nothing."""
    try:
        return paths.cache_root().is_dir() and bool(
            guest_image.build(version, inputs.sets_of_guests(version), only_built=True)
        )
    except FlashbedError:
        return False


def write_lock(study: str | None) -> str:
    """Write the lock of a study, or the repository's own, and return a line about it. Raises InputError for one of the
    repository's own studies: they share one lock.
    """
    own = None if study is None else load_study(_of_the_user(run.find_study(study)))
    lock = inputs.lock_shipped() if own is None else inputs.lock_study(own)
    lockfile.write(lock)
    files = {file.name for asked in lock.requests.values() for files in asked.values() for file in files}
    return f"{lock.path}: {len(files)} files of Debian {lock.suite}, {len(lock.profiles)} profiles, the lab's sources"


def _of_the_user(file: Path) -> Path:
    if os.path.realpath(file.parent) == os.path.realpath(paths.studies()):
        raise InputError(
            f"{file}: its lock is {pins.shipped_path()}, as of all studies there; `flashbed image lock` writes it"
        )
    return file


def update_packages() -> str:
    """Forget the noted versions of packages, and update the repository's lock to today's versions. If that fails, leave
    both as they were.
    """
    pins.choose(inputs.without_packages())
    archive = stores.open_archive()
    with archive.without_versions(), archive.of(toolchain.HOST).without_versions():
        return write_lock(None)


def export(to: Path, names: Sequence[str], kernel: str) -> str:
    """Write the image that these studies need to the file `to`; without studies, the image of a kernel with all file
    systems. Return a line about it. Raises InputError, SetupError, HostResourceError.
    """
    making.prepare(to)
    with noting() as asked:
        if names:
            studies = [load_study(run.find_study(name)) for name in names]
            for study in studies:
                run.prepare(study, lines=False)
            commands = {cell.filesystem.check for study in studies for cell in plan(study)}
        else:
            guest_image.build(kernel, inputs.sets_of_guests(kernel), thorough=True)
            commands = set(_checks())
        emulator.program()
        hosttools.media_tool()
    with TemporaryDirectory(prefix="flashbed-image-") as scratch:
        size = image_file.write(to, asked, _checkers(commands), Path(scratch))
    return f"{to}: {rough_size(size)}. `flashbed image import {to.name}` takes it in on another x86_64 Linux."


def _checks() -> Iterator[str]:
    library = Library((paths.profiles(),))
    return (library.filesystem(name).check for name in library.names("filesystem"))


def _checkers(commands: Iterable[str]) -> list[Path]:
    """Return the paths of the programs that these commands start. Raises SetupError if one is not installed."""
    found = []
    for name in sorted({shlex.split(command)[0] for command in commands if command}):
        if (place := programs.found(name, paths.checkers())) is None:
            raise programs.missing(name)
        found.append(place)
    return found


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
        told = path.stat()
    except OSError as error:
        raise InputError(
            f"FLASHBED_IMAGE={path}: {error.strerror}; `flashbed image export -o FILE` makes one"
        ) from None
    mark, its = paths.cache_root() / "image" / "taken-in", f"{path.resolve()} {told.st_size} {told.st_mtime_ns}\n"
    if mark.is_file() and mark.read_text() == its:
        return
    image_file.take_in(path)
    atomic.write(mark, its.encode())
