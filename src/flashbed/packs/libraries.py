# SPDX-License-Identifier: Apache-2.0
"""Programs of this host with the libraries that they start with, and the packages that all of it is from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed.common import children
from flashbed.common.digest import digest_file
from flashbed.common.errors import SetupError

_FOUND = re.compile(r"^\s*(?:(?P<name>\S+) => )?(?P<path>/\S+) \(0x[0-9a-f]+\)$")
_MISSING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
_STATIC = ("not a dynamic executable", "statically linked")
_LOADER = re.compile(r"^ld-linux.*\.so\.\d+$")


@dataclass(frozen=True)
class Linked:
    """A program's file, its loader (None: it needs none), and its libraries by the names that it asks for."""

    program: Path
    loader: Path | None
    libraries: dict[str, Path]

    @property
    def files(self) -> list[Path]:
        return [self.program, *([self.loader] if self.loader else []), *self.libraries.values()]


def linked(program: Path) -> Linked:
    """Raises SetupError for what is no program of this processor, or lacks a library."""
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            raise SetupError(f"{program}: is a script, and a pack holds programs only")
    done = children.run(["ldd", program])
    said = done.stdout + done.stderr
    if any(word in said for word in _STATIC):
        return Linked(program, None, {})
    if done.returncode or (missing := _MISSING.search(said)):
        raise SetupError(f"{program}: lacks {missing[1]}" if not done.returncode and missing else f"{program}: {said}")
    found = [match for line in said.splitlines() if (match := _FOUND.match(line))]
    paths = {match["name"] or Path(match["path"]).name: Path(match["path"]).resolve() for match in found}
    loader = next((path for name, path in paths.items() if _LOADER.match(Path(name).name)), None)
    if loader is None:
        raise SetupError(f"{program}: ldd names no loader for it")
    return Linked(program, loader, {Path(name).name: path for name, path in paths.items() if path != loader})


def packages(files: Iterable[Path]) -> list[str]:
    """A line for each file, as sha256sum has it, with the Debian package that it is from behind: name and version, and
    its source's. What the lab has built, and all on another system, is of none.
    """
    return sorted({f"{digest_file(file)}  {file.name}  {_package(file)}" for file in set(files)})


def _package(file: Path) -> str:
    # dpkg knows a library of /usr/lib by the name from before /lib was a link
    for name in (str(file), str(file).removeprefix("/usr")):
        if (owner := _owner(name)) is not None:
            return _described(owner)
    return "of no package that this host knows"


def _owner(name: str) -> str | None:
    try:
        done = children.run(["dpkg-query", "-S", name])
    except SetupError:
        return None
    return done.stdout.partition(": ")[0].partition(",")[0] if done.returncode == 0 else None


@cache
def _described(package: str) -> str:
    wanted = "${Package} ${Version} (source ${source:Package} ${source:Version})\n"
    return children.run(["dpkg-query", "-W", "-f", wanted, package]).stdout.strip()
