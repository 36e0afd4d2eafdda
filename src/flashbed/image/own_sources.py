# SPDX-License-Identifier: Apache-2.0
"""Return digests of the lab's own files that affect results: sources of guest, kernel modules, media core, emulator and
load, and profiles.

Files that builds and tests leave do not count. Neither do tests of kernel modules, of the media core and of the load,
because no measured part is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_bytes, digest_file

_LEFT = {"__pycache__", "build"}

_TESTS = {"tests", "fuzz", "bench"}
"""Directories of a module in kernel/ that are not its source."""


def sources() -> Mapping[str, str]:
    """Return digests by directory: "guest", "kernel/media_blk"."""
    return {name: _digest(folder, parts) for name, folder, parts in _folders()}


def files() -> Mapping[str, Path]:
    """Return all files that `sources` digests, by path below the lab's data."""
    by_name: dict[str, Path] = {}
    for name, folder, parts in _folders():
        for part in parts or (".",):
            by_name |= {f"{name}/{path.relative_to(folder).as_posix()}": path for path in _files(folder / part)}
    return dict(sorted(by_name.items()))


def shipped_profiles() -> Mapping[str, str]:
    """Return digests of the shipped profiles, by kind and name: "boards/arm64-1000"."""
    root = paths.profiles()
    return {profile_name(path): digest_file(path) for path in sorted(root.glob("*/*.toml"))}


def profile_name(path: Path) -> str:
    """Return the kind and name of a profile's file."""
    return f"{path.parent.name}/{path.stem}"


def _folders() -> Iterator[tuple[str, Path, tuple[str, ...]]]:
    """Yield name, directory, and the parts of it that count; () if all count."""
    yield "emulator", paths.emulator(), ()
    yield "guest", paths.guest(), ()
    for folder in sorted(paths.kernel().iterdir()):
        if folder.is_dir() and folder.name not in _LEFT:
            yield f"kernel/{folder.name}", folder, tuple({part.name for part in folder.iterdir()} - _TESTS)
    yield "media", paths.media(), ("include", "src", "host", "Makefile", "sources.mk")
    yield "sfsload", paths.sfsload(), ("Makefile", "src")


def _digest(folder: Path, parts: tuple[str, ...]) -> str:
    files = sorted(path for part in parts or (".",) for path in _files(folder / part))
    lines = (f"{path.relative_to(folder).as_posix()}\0{digest_file(path)}\n" for path in files)
    return digest_bytes("".join(lines).encode())


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        if not path.name.startswith(".") and path.suffix not in (".o", ".pyc"):
            yield path
    elif path.name not in _LEFT:
        for inside in path.iterdir():
            yield from _files(inside)
