# SPDX-License-Identifier: Apache-2.0
"""A directory with the source of a module, above all a user's: which of its files are built, and the errors if it does
not build.

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
"""Error messages of the compiler, modpost and make."""


def files(folder: Path) -> Iterator[Path]:
    """Yield the source files below a directory, by relative path, without files that a build left. Follow links, except
    links to a directory that contains them.
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
    """Return the SHA-256 of the names and contents of `files`. The directory's path and name are not in it."""
    lines = (f"{file.as_posix()}\0{digest_file(folder / file)}\n" for file in files(folder))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def copy(folder: Path, to: Path) -> None:
    """Copy the source files. Replace links by what they name."""
    to.mkdir(parents=True)
    for file in files(folder):
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / file, to / file)


def errors(lines: Sequence[str], built_in: Path, folder: Path) -> str:
    """Return the first errors in the output of a build in `built_in`, a copy of `folder`, with paths in `folder`; "" if
    there is none.
    """
    error_lines = [_with_place(lines, at, built_in) for at, line in enumerate(lines) if _ERROR.search(line)]
    return "; ".join(dict.fromkeys(error_lines[:MOST_ERRORS])).replace(str(built_in), str(folder))


def _with_place(lines: Sequence[str], at: int, built_in: Path) -> str:
    """Return an error. If it is in a header of the kernel's, add the line of the module that includes it."""
    error = lines[at].strip()
    if str(built_in) in error or "error: " not in error:
        return error
    place = re.compile(rf"{re.escape(str(built_in))}/\S+?:\d+(?=[:,])")
    behind = next((more for more in range(at + 1, len(lines)) if _ERROR.search(lines[more])), len(lines))
    for line in (*lines[at + 1 : behind], *reversed(lines[:at])):
        if match := place.search(line):
            return f"{error} (from {match[0]})"
    return error
