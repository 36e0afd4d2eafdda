# SPDX-License-Identifier: Apache-2.0
"""Commands of a study that would run on this computer, outside of any guest: the lab's own, and what its user allows.

A study is data, also one that was downloaded with profiles beside it. On this computer runs what a shipped profile
runs, and nothing else, until it is allowed, once, by the name of its profile. What is allowed is the whole text of a
command: another text must be allowed anew. Must not know what a command does, nor who runs it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed import paths
from flashbed.digest import digest_bytes
from flashbed.errors import InputError, host_refusal
from flashbed.library import Library, Selector
from flashbed.study import Study
from flashbed.tomlfile import TomlFile, nearest

FOLDER = "allowed"
"""In the cache: a file for each command that is allowed, named by the digest of its text, with the text in it."""

KEY = "check"
"""The key of a file system's profile that has a command for the host."""


@dataclass(frozen=True)
class HostCommand:
    """A command of a profile that is none of the lab's own."""

    profile: str
    file: TomlFile
    text: str

    def described(self) -> str:
        """With file and line."""
        return self.file.message((KEY,), self.text)

    @property
    def is_allowed(self) -> bool:
        """Whether this user has allowed just this text."""
        try:
            return _place(self.text).read_bytes() == self.text.encode()
        except OSError:
            return False

    def allow(self) -> None:
        """Until its file is removed. Raises HostResourceError."""
        place = _place(self.text)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as scratch:
                scratch.write(self.text.encode())
            Path(scratch.name).rename(place)
        except OSError as error:
            raise host_refusal(place, error) from None


def foreign(study: Study) -> list[HostCommand]:
    """The commands of a study for this computer that are none of the lab's own, allowed or not."""
    selectors = study.axes.get("filesystem") or (study.fixed["filesystem"],)
    names = dict.fromkeys(Selector.parse(text).name for text in selectors)
    found = (HostCommand(name, *_command(study.library, name)) for name in names)
    return [command for command in found if command.text and command.text not in known(paths.profiles())]


def check(study: Study) -> None:
    """Raises InputError, with all that wants to be allowed and how, unless everything is."""
    waiting = [command for command in foreign(study) if not command.is_allowed]
    if waiting:
        names = " ".join(command.profile for command in waiting)
        raise InputError(
            "\n".join(f"{command.described()}" for command in waiting)
            + f"\nThis would run on this computer, as you, and is none of the lab's own commands. If you trust it: "
            f"flashbed allow {study.path} {names}"
        )


def chosen(study: Study, profiles: Sequence[str]) -> Iterator[HostCommand]:
    """The foreign commands of these profiles. Raises InputError for a profile that has none."""
    found = {command.profile: command for command in foreign(study)}
    for name in profiles:
        if name not in found:
            raise InputError(f'{study.path}: no file system "{name}" with a command to allow{nearest(name, found)}')
    return (found[name] for name in profiles)


@cache
def known(shipped: Path) -> frozenset[str]:
    """The fixed list: what the profiles in the folder `shipped`, the lab's, run on the host."""
    library = Library((shipped,))
    return frozenset(_command(library, name)[1] for name in library.names("filesystem"))


def _command(library: Library, profile: str) -> tuple[TomlFile, str]:
    file = library.file("filesystem", profile)
    return file, str(file.data.get(KEY, ""))


def _place(text: str) -> Path:
    return paths.cache_root() / FOLDER / digest_bytes(text.encode())
