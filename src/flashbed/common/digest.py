# SPDX-License-Identifier: Apache-2.0
"""Return SHA-256 digests in hexadecimal: of bytes, JSON values, files, packages, and the lab's own code. Must not know
what they mean.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import FileIO
from pathlib import Path
from typing import Any


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_json(value: Any) -> str:
    """Return the digest of a JSON value. The order of keys does not matter."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return digest_bytes(canonical.encode())


_SMALL_BYTES = 1 << 16


def digest_file(path: Path | str) -> str:
    """Return the digest of all bytes of a file. A hole counts as zeros."""
    with FileIO(path) as file:
        begin = file.read(_SMALL_BYTES)
        if len(begin) < _SMALL_BYTES:  # hashlib's buffer for a file costs more than the digest of a small one
            return digest_bytes(begin)
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()


FileState = tuple[int, int, int, int, int]
"""The identity, size and times of a file. A write by a mapping, or two writes within SETTLED_NS, may leave them as they
are.
"""

SETTLED_NS = 3 * 10**9
"""The coarsest timestamps of file systems are 2 s apart, FAT's."""


def state_of(path: Path) -> FileState:
    """Return the state of a file now. Raises OSError."""
    status = path.stat()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def digest_unmapped(path: Path) -> str:
    """Return the digest of a file that nothing changes by a mapping. It is read again only after a change."""
    now_ns = time.time_ns()
    state = state_of(path)
    if (known := _known.get(state)) is not None:
        return known
    digest = digest_file(path)
    if now_ns - max(state[-2:]) > SETTLED_NS:
        _known[state] = digest
    return digest


_known: dict[FileState, str] = {}


_CODE = frozenset({".py", ".toml", ".j2", ".css", ".js"})
"""Of the package's files; a wheel's _data is what cells are made of, and is in the keys."""


@cache
def digest_code(package: Path = Path(__file__).parents[1]) -> str:
    """Return the digest of the code of all rooms, with what they read beside it. Takes 11 ms, once."""
    code = (path for path in package.rglob("*") if path.suffix in _CODE)
    return _digest_files(package, (path for path in code if not path.is_relative_to(package / "_data")))


def digest_package(place: Path) -> str:
    """Return the digest of the files of a package, or of a module that is one file. Python's caches do not count."""
    files = place.rglob("*") if place.is_dir() else [place]
    return _digest_files(place.parent, (path for path in files if path.is_file() and "__pycache__" not in path.parts))


def _digest_files(root: Path, files: Iterable[Path]) -> str:
    """Return the digest of the files' paths below `root` and of their contents."""
    total = hashlib.sha256()
    for path in sorted(files):
        name = path.relative_to(root).as_posix()
        total.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


@cache
def identity() -> str:
    """Return the version and a digest of the code, because two commits may have the same version. It is the same for a
    clone and a wheel.
    """
    try:
        number = version("flashbed")
    except PackageNotFoundError:
        number = "not installed"
    return f"{number} ({digest_code()[:12]})"
