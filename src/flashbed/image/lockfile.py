# SPDX-License-Identifier: Apache-2.0
"""Read and write a lock: a TOML file with version, digest and origin of each input of a study. Choose the lock that
this process keeps to, and how strictly.

There are two kinds of input: files of Debian's archive, by request, and files of the lab's own that affect results, by
digest: sources of guest, kernel modules, media core, emulator and load, and profiles. Files that builds and tests leave
do not count. Neither do tests of kernel modules, of the media core and of the load, because no measured part is made of
them.

A command chooses the lock once, before anything is fetched; by default it is the repository's own, as far as it can be
followed. Knows nothing of apt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from flashbed.common import atomic, paths
from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import host_refusal
from flashbed.common.tomlfile import Keys, Problem, TomlFile

SUITE = "bookworm"
"""The Debian suite for whose kernels and tools the lab is made. It is the default without a lock."""

LOCK_HEAD = """\
# What the studies here are measured with. Written by `flashbed image lock`; docs/pinned.md says how it is used.
"""

_ENDINGS = re.compile(r"\.(dsc|orig(-\w+)?\.tar\.\w+(\.asc)?|debian\.tar\.\w+|diff\.gz|tar\.\w+)$")

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, order=True)
class ArchiveFile:
    """A file of Debian's archive: its name, SHA-256, size and origin: "debian pool/main/..."."""

    name: str
    sha256: str
    size: int
    origin: str

    @property
    def version(self) -> str:
        """Return the version, such as 3.33-3."""
        return _version_in(self.name)


def _version_in(name: str) -> str:
    """Return the version in a file name of Debian; "" if it is none."""
    return _ENDINGS.sub("", unquote((*name.removesuffix(".deb").split("_"), "")[1]))


Requests = Mapping[str, Mapping[str, Sequence[ArchiveFile]]]
"""Files by architecture and request."""


@dataclass(frozen=True)
class Lockfile:
    """The content of a lock. `sources`, `profiles` and `modules` (those that a study brings) are digests by name."""

    path: Path
    suite: str = SUITE
    sources: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, str] = field(default_factory=dict)
    requests: Requests = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)

    def files(self, architecture: str, request: str) -> tuple[ArchiveFile, ...] | None:
        """Return the files of a request; None if the lock has no such request."""
        names = self.requests.get(architecture, {}).get(request)
        return None if names is None else tuple(names)


class _FileTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: str
    sha256: Digest
    bytes: Annotated[int, Field(ge=0)]
    origin: Annotated[str, StringConstraints(pattern=r"^debian(-security)? [^ /][^ ]*$"), Field(alias="from")]


class _LockTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal[1]
    suite: Annotated[str, StringConstraints(pattern=r"^[a-z]+$")]
    sources: dict[str, Digest] = {}
    profiles: dict[str, Digest] = {}
    modules: dict[str, Digest] = {}
    requests: dict[str, dict[str, list[str]]] = {}
    files: dict[str, _FileTable] = {}

    def problems(self) -> list[Problem]:
        """Return the problems of a lock: a suite that the lab is not made for, names that are not Debian's, versions
        that differ from the name's, and requested files without a description.
        """
        at: list[tuple[Keys, str]] = [
            (("requests", architecture, request), name)
            for architecture, requests in self.requests.items()
            for request, names in requests.items()
            for name in names
        ]
        faults = [Problem(keys, f'"{name}" is not in [files]') for keys, name in at if name not in self.files]
        if self.suite != SUITE:
            faults.append(Problem(("suite",), f'the lab is made for Debian\'s "{SUITE}", not for "{self.suite}"'))
        for name, described in self.files.items():
            if "/" in name or not (version := _version_in(name)):
                faults.append(Problem(("files", name), "is no name of a file of Debian's archive"))
            elif described.version != version:
                faults.append(
                    Problem(("files", name, "version"), f'is "{described.version}", and the name says "{version}"')
                )
        return faults


def read(path: Path) -> Lockfile:
    """Read a lock. Raises InputError, with the line, if the file is no lock."""
    table = TomlFile.read(path).validate(_LockTable)
    files = {name: ArchiveFile(name, entry.sha256, entry.bytes, entry.origin) for name, entry in table.files.items()}
    requests = {
        architecture: {request: tuple(files[name] for name in names) for request, names in of_request.items()}
        for architecture, of_request in table.requests.items()
    }
    return Lockfile(path, table.suite, table.sources, table.profiles, requests, table.modules)


def text(lock: Lockfile) -> str:
    """Return the text of a lock, as `read` reads it. The same lock gives the same bytes."""
    files = {
        file.name: file
        for of_request in lock.requests.values()
        for files_of_request in of_request.values()
        for file in files_of_request
    }
    lines = [LOCK_HEAD, "format = 1", f"suite = {_text(lock.suite)}"]
    brought = [("modules", lock.modules)] if lock.modules else []
    for title, digests in (("sources", lock.sources), ("profiles", lock.profiles), *brought):
        lines += ["", f"[{title}]", *(f"{_text(name)} = {_text(digests[name])}" for name in sorted(digests))]
    for architecture in sorted(lock.requests):
        lines += ["", f"[requests.{architecture}]"]
        for request, files_of_request in sorted(lock.requests[architecture].items()):
            lines += [f"{_text(request)} = [", *(f"  {_text(file.name)}," for file in sorted(files_of_request)), "]"]
    lines += ["", "[files]", *(_file(files[name]) for name in sorted(files))]
    return "\n".join(lines) + "\n"


def write(lock: Lockfile) -> None:
    """Replace the lock's file atomically. Raises HostResourceError."""
    try:
        atomic.write(lock.path, text(lock).encode())
    except OSError as error:
        raise host_refusal(lock.path, error) from None


def _file(file: ArchiveFile) -> str:
    fields: dict[str, str | int] = {
        "version": file.version,
        "sha256": file.sha256,
        "bytes": file.size,
        "from": file.origin,
    }
    return f"{_text(file.name)} = {{ {', '.join(f'{name} = {_text(value)}' for name, value in fields.items())} }}"


def _text(value: str | int) -> str:
    """Return a value as TOML. A basic string of TOML equals one of JSON, for the values of a lock."""
    return json.dumps(value, ensure_ascii=False)


LOCK_SUFFIX = ".lock"
"""The suffix of a study's own lock, in place of .toml."""


@dataclass(frozen=True)
class Pins:
    """A lock and its force. With `strict`, exactly the files that the lock names are used. Without a lock, Debian's
    archive decides.
    """

    lock: Lockfile | None
    strict: bool = False

    @property
    def suite(self) -> str:
        """Return the Debian suite of the packages."""
        return self.lock.suite if self.lock else SUITE


_chosen: Pins | None = None


def choose_pins(pins: Pins | None) -> None:
    """Keep to these pins from now on. None: the default."""
    global _chosen
    _chosen = pins


def current_pins() -> Pins:
    """Return the chosen pins, else the repository's own lock. Raises InputError if that is damaged."""
    return _chosen if _chosen is not None else Pins(shipped())


def shipped_path() -> Path:
    """Return the path of the lock of the repository's studies."""
    return paths.studies() / f"flashbed{LOCK_SUFFIX}"


@cache
def shipped() -> Lockfile | None:
    """Return the lock of the repository's studies, if it exists. Raises InputError if it is damaged."""
    return read(shipped_path()) if shipped_path().is_file() else None


def path_for(study: Path) -> Path:
    """Return the path of a study's lock: its own, if one lies beside it, else the repository's."""
    own = study.with_suffix(LOCK_SUFFIX)
    return own if own.is_file() else shipped_path()


_LEFT = {"__pycache__", "build"}

_TESTS = {"tests", "fuzz", "bench"}
"""Directories of a module in kernel/ that are not its source."""


def own_sources() -> Mapping[str, str]:
    """Return digests by directory: "guest", "kernel/media_blk"."""
    return {name: _digest(folder, parts) for name, folder, parts in _folders()}


def own_source_files() -> Mapping[str, Path]:
    """Return all files that `own_sources` digests, by path below the lab's data."""
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
    digested = sorted(path for part in parts or (".",) for path in _files(folder / part))
    lines = (f"{path.relative_to(folder).as_posix()}\0{digest_file(path)}\n" for path in digested)
    return digest_bytes("".join(lines).encode())


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        if not path.name.startswith(".") and path.suffix not in (".o", ".pyc"):
            yield path
    elif path.name not in _LEFT:
        for inside in path.iterdir():
            yield from _files(inside)
