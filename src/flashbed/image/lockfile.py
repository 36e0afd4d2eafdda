# SPDX-License-Identifier: Apache-2.0
"""The lock: a TOML file that says what studies were measured with, by version, digest and origin. Read, written, and
nothing else.

Two kinds of input: what Debian's archive gave, by what was asked of it, and files of the lab's own, by their digests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from flashbed.common import atomic
from flashbed.common.errors import host_refusal
from flashbed.common.toml_lines import Keys
from flashbed.common.tomlfile import Problem, TomlFile

SUITE = "bookworm"
"""Of Debian, whose kernels and tools the lab is made for, where no lock says otherwise."""

HEAD = """\
# What the studies here are measured with. Written by `flashbed image lock`; docs/pinned.md says how it is used.
"""

_ENDINGS = re.compile(r"\.(dsc|orig(-\w+)?\.tar\.\w+(\.asc)?|debian\.tar\.\w+|diff\.gz|tar\.\w+)$")

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, order=True)
class File:
    """A file of Debian's archive: its name, SHA-256, size, and where it lies there: "debian pool/main/..."."""

    name: str
    sha256: str
    size: int
    origin: str

    @property
    def version(self) -> str:
        """Such as 3.33-3."""
        return _version_in(self.name)


def _version_in(name: str) -> str:
    """Nothing, where that is no name of Debian's."""
    return _ENDINGS.sub("", unquote((*name.removesuffix(".deb").split("_"), "")[1]))


Requests = Mapping[str, Mapping[str, Sequence[File]]]
"""By architecture, and what was asked for it: the files."""


@dataclass(frozen=True)
class Lockfile:
    """What a lock file says. `sources`, `profiles` and `modules`, those that a study brings, are digests by name."""

    path: Path
    suite: str = SUITE
    sources: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, str] = field(default_factory=dict)
    requests: Requests = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)

    def files(self, architecture: str, request: str) -> tuple[File, ...] | None:
        """What this request came to; None if it was not made."""
        found = self.requests.get(architecture, {}).get(request)
        return None if found is None else tuple(found)


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
        """A suite that the lab is not made for, names that are none of Debian's, versions that are not those of the
        names, and files that a request names, and nobody describes.
        """
        at: list[tuple[Keys, str]] = [
            (("requests", architecture, request), name)
            for architecture, requests in self.requests.items()
            for request, names in requests.items()
            for name in names
        ]
        found = [Problem(keys, f'"{name}" is not in [files]') for keys, name in at if name not in self.files]
        if self.suite != SUITE:
            found.append(Problem(("suite",), f'the lab is made for Debian\'s "{SUITE}", not for "{self.suite}"'))
        for name, one in self.files.items():
            if "/" in name or not (version := _version_in(name)):
                found.append(Problem(("files", name), "is no name of a file of Debian's archive"))
            elif one.version != version:
                found.append(Problem(("files", name, "version"), f'is "{one.version}", and the name says "{version}"'))
        return found


def read(path: Path) -> Lockfile:
    """Raises InputError, with the line, for what is no lock."""
    table = TomlFile.read(path).validate(_LockTable)
    files = {name: File(name, one.sha256, one.bytes, one.origin) for name, one in table.files.items()}
    requests = {
        architecture: {request: tuple(files[name] for name in names) for request, names in asked.items()}
        for architecture, asked in table.requests.items()
    }
    return Lockfile(path, table.suite, table.sources, table.profiles, requests, table.modules)


def text(lock: Lockfile) -> str:
    """As `read` takes it; the same lock gives the same bytes."""
    files = {one.name: one for asked in lock.requests.values() for found in asked.values() for one in found}
    lines = [HEAD, "format = 1", f"suite = {_text(lock.suite)}"]
    brought = [("modules", lock.modules)] if lock.modules else []
    for title, digests in (("sources", lock.sources), ("profiles", lock.profiles), *brought):
        lines += ["", f"[{title}]", *(f"{_text(name)} = {_text(digests[name])}" for name in sorted(digests))]
    for architecture in sorted(lock.requests):
        lines += ["", f"[requests.{architecture}]"]
        for request, found in sorted(lock.requests[architecture].items()):
            lines += [f"{_text(request)} = [", *(f"  {_text(one.name)}," for one in sorted(found)), "]"]
    lines += ["", "[files]", *(_file(files[name]) for name in sorted(files))]
    return "\n".join(lines) + "\n"


def write(lock: Lockfile) -> None:
    """Whole or not at all. Raises HostResourceError."""
    try:
        atomic.write(lock.path, text(lock).encode())
    except OSError as error:
        raise host_refusal(lock.path, error) from None


def _file(one: File) -> str:
    told: dict[str, str | int] = {"version": one.version, "sha256": one.sha256, "bytes": one.size, "from": one.origin}
    return f"{_text(one.name)} = {{ {', '.join(f'{name} = {_text(value)}' for name, value in told.items())} }}"


def _text(value: str | int) -> str:
    """A basic string of TOML is one of JSON, for what stands in a lock."""
    return json.dumps(value, ensure_ascii=False)
