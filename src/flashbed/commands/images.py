# SPDX-License-Identifier: Apache-2.0
"""Images of guests in a file: what `flashbed image export` and `import` do, and FLASHBED_IMAGE."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from flashbed import image
from flashbed.common import atomic, paths, programs
from flashbed.common.errors import InputError
from flashbed.common.units import rough_size
from flashbed.execution import inputs, run
from flashbed.image import emulator
from flashbed.image.cache import noting
from flashbed.packs import image_file, making
from flashbed.profiles.library import Library
from flashbed.study.loading import load_study
from flashbed.study.plan import plan


def export(to: Path, names: Sequence[str], kernel: str) -> str:
    """Writes the image that these studies take, or else that of a kernel with all file systems; what it came to."""
    making.prepare(to)
    with noting() as asked:
        if names:
            studies = [load_study(run.find_study(name)) for name in names]
            for study in studies:
                run.prepare(study, lines=False)
            commands = {cell.filesystem.check for study in studies for cell in plan(study)}
        else:
            image.build(kernel, inputs.sets_of_guests(kernel), thorough=True)
            commands = set(_checks())
        emulator.program()
        image.media_tool()
    with TemporaryDirectory(prefix="flashbed-image-") as scratch:
        size = image_file.write(to, asked, _checkers(commands), Path(scratch))
    return f"{to}: {rough_size(size)}. `flashbed image import {to.name}` takes it in on another x86_64 Linux."


def _checks() -> Iterator[str]:
    library = Library((paths.profiles(),))
    return (library.filesystem(name).check for name in library.names("filesystem"))


def _checkers(commands: Iterable[str]) -> list[Path]:
    """Raises SetupError for one that this host has not."""
    found = []
    for name in sorted({shlex.split(command)[0] for command in commands if command}):
        if (place := programs.found(name, paths.checkers())) is None:
            raise programs.missing(name)
        found.append(place)
    return found


def take_in(path: Path) -> Iterator[str]:
    """What came of an image, in lines."""
    done = image_file.take_in(path)
    yield f"{path}: {len(done.new)} parts taken in, {len(done.known)} were here"
    if done.different:
        yield f"built here with other bytes, and kept: {', '.join(done.different)}"
    if done.other_packages:
        other = ", ".join(sorted(done.other_packages)[:5])
        yield f"other versions were noted here before, and are kept: {other}; what is made of these is built here"


def take_in_once(path: Path) -> None:
    """Takes in the image that is given (common/paths.py), if that was not done already. Raises InputError."""
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
