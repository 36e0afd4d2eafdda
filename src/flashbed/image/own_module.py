# SPDX-License-Identifier: Apache-2.0
"""A folder of source that a module is built from, above all one that the user brings: what of it is built, and what to
say if it does not build.

Must not know how a module is built.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from flashbed.common.digest import digest_file

LEFT_BY_A_BUILD = shutil.ignore_patterns("*.[ao]", ".*", "*.ko", "*.mod", "*.mod.c")

MOST_ERRORS = 3

_ERROR = re.compile(r"error: |ERROR: |\*\*\* .*Stop\.$")
"""What the compiler, modpost and make say."""


def files(folder: Path) -> Iterator[Path]:
    """What a module is made from: files below its folder, seen from there, without what a build left. Links are
    followed, but for those that lead back to a folder that they lie in.
    """
    yield from _files(folder, Path(), ())


def _files(folder: Path, inside: Path, above: tuple[str, ...]) -> Iterator[Path]:
    here = folder / inside
    real = os.path.realpath(here)
    if real in above:
        return
    names = sorted(entry.name for entry in here.iterdir())
    for name in sorted(set(names) - LEFT_BY_A_BUILD(str(here), names)):
        if (here / name).is_dir():
            yield from _files(folder, inside / name, (*above, real))
        elif (here / name).is_file():
            yield inside / name


def digest(folder: Path) -> str:
    """SHA-256 over the names and contents of `files`; where the folder lies, and what it is called, is not in it."""
    lines = (f"{file.as_posix()}\0{digest_file(folder / file)}\n" for file in files(folder))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def copy(folder: Path, to: Path) -> None:
    """Of `files`, with links replaced by what they name."""
    to.mkdir(parents=True)
    for file in files(folder):
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / file, to / file)


def errors(lines: Sequence[str], built_in: Path, folder: Path) -> str:
    """The first errors in what a build in `built_in` said, with places in `folder`, which that is a copy of; "" if it
    said none.
    """
    found = [_with_place(lines, at, built_in) for at, line in enumerate(lines) if _ERROR.search(line)]
    return "; ".join(dict.fromkeys(found[:MOST_ERRORS])).replace(str(built_in), str(folder))


def _with_place(lines: Sequence[str], at: int, built_in: Path) -> str:
    """An error, and of one in a header of the kernel's the line of the module that it comes from."""
    said = lines[at].strip()
    if str(built_in) in said or "error: " not in said:
        return said
    place = re.compile(rf"{re.escape(str(built_in))}/\S+?:\d+(?=[:,])")
    behind = next((more for more in range(at + 1, len(lines)) if _ERROR.search(lines[more])), len(lines))
    for line in (*lines[at + 1 : behind], *reversed(lines[:at])):
        if match := place.search(line):
            return f"{said} (from {match[0]})"
    return said
