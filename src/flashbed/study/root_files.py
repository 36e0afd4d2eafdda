# SPDX-License-Identifier: Apache-2.0
"""Read which files of the user's a study puts into the root of its programs, and gather the parameters of a cell.

A file lies beside the study, and programs find it in /app by the same relative path. Must not know how a root is made.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from flashbed.common import own_file
from flashbed.common.tomlfile import shown
from flashbed.common.units import rough_size
from flashbed.workload.base import ToolParameters
from flashbed.workload.program import filled

FILES_PARAMETER = "files"
"""The parameter that names them."""

APP = PurePosixPath("/app")
MODE = 0o755
"""The permissions of every file: those of a checkout differ from host to host."""

MOST_ROOT_FILES, MOST_ROOT_BYTES = 10_000, 1 << 30


class OwnFile(NamedTuple):
    """A file of the user's: where it is, and what the root has of it. `mode` is as in st_mode; `sha256` is that of the
    content, of a symbolic link that of its target.
    """

    source: Path
    path: str
    mode: int
    sha256: str


class OwnFileError(Exception):
    """A file cannot be taken; the text says why, and follows its name."""


def read(folder: Path, name: str) -> list[OwnFile]:
    """Return the file or the content of the directory `name`, which lies in the study's `folder`. Raises
    OwnFileError.
    """
    inside = PurePosixPath(name)
    is_outside = inside.is_absolute() or ".." in inside.parts or not inside.parts
    if is_outside or any((folder / above).is_symlink() for above in inside.parents[:-1]):
        raise OwnFileError("does not lie beside the study; give a path relative to it, and no parent directories")
    files: list[OwnFile] = []
    size = 0
    for path in _walk(folder / inside):
        file, file_bytes = _read(path, str(APP / path.relative_to(folder).as_posix()))
        files.append(file)
        size += file_bytes
        if len(files) > MOST_ROOT_FILES or size > MOST_ROOT_BYTES:
            raise OwnFileError(f"has more than {MOST_ROOT_FILES:,} files or {rough_size(MOST_ROOT_BYTES)}")
    return files


def _walk(path: Path) -> Iterator[Path]:
    """Yield a file, or all files and empty directories below a directory, in order."""
    try:
        if path.is_symlink() or not path.is_dir():
            yield path
            return
        inside = sorted(path.iterdir())
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if not inside:
        yield path
    for child in inside:
        yield from _walk(child)


def _read(path: Path, in_root: str) -> tuple[OwnFile, int]:
    """Return a file and its size. Raises OwnFileError."""
    try:
        if path.is_symlink():
            return OwnFile(path, in_root, stat.S_IFLNK | 0o777, _digest(os.fsencode(path.readlink()))), 0
        if path.is_dir():
            return OwnFile(path, in_root, stat.S_IFDIR | MODE, _digest(b"")), 0
        data = own_file.read(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    return OwnFile(path, in_root, stat.S_IFREG | MODE, _digest(data)), len(data)


def _unreadable(path: Path, error: Exception) -> OwnFileError:
    why = error.strerror if isinstance(error, OSError) else "no file can have this name"
    return OwnFileError(f"cannot be read: {shown(path, 300)}: {why}")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def unvalidated_parameters(
    parameters: type[ToolParameters],
    texts: Mapping[str, str],
    tables: Mapping[str, Any],
    root_files: Sequence[OwnFile],
) -> dict[str, Any]:
    """Return the values of a cell's parameters for validation: those of its texts that are parameters, its tables and
    the user's files. Values of other axes fill the placeholders.
    """
    if not parameters.placeholders:
        return dict(texts)
    values = {name: text for name, text in texts.items() if name in parameters.model_fields and name != FILES_PARAMETER}
    axes = {name: text for name, text in texts.items() if name not in parameters.model_fields}
    given: dict[str, Any] = filled({**values, **tables}, axes)
    return given | {FILES_PARAMETER: [list(file[1:]) for file in root_files]}
