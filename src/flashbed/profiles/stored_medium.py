# SPDX-License-Identifier: Apache-2.0
"""Kept media: a directory with state.bin, data.img and medium.json, from which any number of cells can start.

A medium may come from a stranger, and its content gets into results and packs. So its files must belong to the user,
and must not be links.

Knows files only: where a medium lies, its digest, and how to copy it with its holes. Only the media core knows what a
state means.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flashbed.common import atomic, locks, own_file, paths, sparse
from flashbed.common.errors import InputError, host_refusal
from flashbed.common.tomlfile import shown

STATE, DATA, DESCRIPTION = "state.bin", "data.img", "medium.json"
LONGEST_NAME_BYTES = 200
MOST_DESCRIPTION_BYTES = 16 << 20
MOST_SHOWN = 40


@dataclass(frozen=True)
class Origin:
    """What a medium was made from, as medium.json says it."""

    profile: str
    """The profile as written."""
    made: tuple[str, ...]
    """The steps that made the medium, for people."""

    def to_json(self) -> bytes:
        """Return the content of medium.json."""
        return json.dumps({"profile": self.profile, "made": list(self.made)}, indent=1).encode() + b"\n"


@dataclass
class MediumChange:
    """A change of a medium, to be filled."""

    state: Path
    """The file for the new state."""
    steps: list[str] = field(default_factory=list)
    """What was done, for people."""


@dataclass(frozen=True)
class StoredMedium:
    """A medium in its directory. The files may be missing."""

    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / STATE

    @property
    def data(self) -> Path:
        return self.folder / DATA

    def origin(self) -> Origin:
        """Return what the medium was made from. Raises InputError if the directory has no medium."""
        try:
            if link := next((file for file in (self.state, self.data) if file.is_symlink()), None):
                raise InputError(f"{link}: is a link, but a medium's files must lie in its folder; copy the file there")
            if other := next((file for file in (self.state, self.data) if file.exists() and not file.is_file()), None):
                raise InputError(f"{other}: is no file, as those of a medium are; make the medium anew")
            with own_file.opened(self.folder / DESCRIPTION, own=True) as file:
                about = json.loads(file.read(MOST_DESCRIPTION_BYTES))
        except FileNotFoundError:
            raise InputError(f"{self.folder}: no medium here; `flashbed medium create` makes one") from None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{self.folder / DESCRIPTION}: cannot be read: {error}") from None
        profile, made = (about.get("profile"), about.get("made")) if isinstance(about, dict) else (None, None)
        if not isinstance(profile, str) or not isinstance(made, list):
            raise InputError(f"{self.folder / DESCRIPTION}: does not say profile and made; make the medium anew")
        return Origin(profile, tuple(map(str, made)))

    def set_origin(self, origin: Origin) -> None:
        """Replace what `origin()` reads, atomically. Raises HostResourceError."""
        try:
            atomic.write(self.folder / DESCRIPTION, origin.to_json())
        except OSError as error:
            raise host_refusal(self.folder / DESCRIPTION, error) from None

    def _write_about(self, origin: Origin) -> None:
        """Write the description of an unfinished change, so that it survives a power cut."""
        with self._new_about.open("wb") as file:
            file.write(origin.to_json())
            file.flush()
            os.fsync(file.fileno())

    @property
    def _new_about(self) -> Path:
        return self.folder / f"{DESCRIPTION}.new"

    @property
    def _new_state(self) -> Path:
        return self.folder / f"{STATE}.new"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the medium. Wait for processes that change it."""
        with locks.wait_for(self.folder.with_name(f".{self.folder.name}.lock")):
            yield

    @contextmanager
    def changed(self) -> Iterator[MediumChange]:
        """Yield a change to fill. At the end of the block its state and its steps both take effect or neither does,
        also if this process is killed. Raises InputError, HostResourceError.
        """
        self.origin()
        with self.locked():
            self._settle()
            origin = self.origin()
            change = MediumChange(self._new_state)
            try:
                yield change
                self._write_about(Origin(origin.profile, (*origin.made, *change.steps)))
                self._new_state.rename(self.state)  # the change is committed; _settle() completes it
                self._new_about.rename(self.folder / DESCRIPTION)
            except OSError as error:
                raise host_refusal(self.folder, error) from None
            finally:
                self._settle()

    def settle(self) -> None:
        """Complete or discard the change of a killed process."""
        if self._left():
            with self.locked():
                self._settle()

    def _left(self) -> list[Path]:
        """Return the files of an unfinished change."""
        return [*self.folder.glob(f"{STATE}.*"), *self.folder.glob(f"{DESCRIPTION}.new")]

    def _settle(self) -> None:
        """Complete a committed change. Without a new state, the present description stays."""
        if self._new_about.exists() and not self._new_state.exists():
            self._new_about.rename(self.folder / DESCRIPTION)
        for left in self._left():
            left.unlink()

    def copy_to(self, other: StoredMedium) -> None:
        """Copy the medium to `other`, whose directory is empty or missing.

        Raises InputError, HostResourceError.
        """
        origin = self.origin()
        try:
            other.folder.mkdir(parents=True, exist_ok=True)
            other.set_origin(origin)
        except OSError as error:
            raise host_refusal(other.folder, error) from None
        copy(self.state, other.state)
        copy(self.data, other.data)

    def digest(self) -> str:
        """Return the SHA-256 of state and data. Raises InputError if one is missing."""
        total = hashlib.sha256()
        for file in (self.state, self.data):
            total.update(f"{file.name}\0{digest(file)}\n".encode())
        return total.hexdigest()


def locate(name: str, base: Path) -> StoredMedium:
    """Return a medium by its path (relative to `base`) or, without a slash, by its name in the cache.

    Raises InputError for an invalid name.
    """
    if "/" not in name:
        if fault := _fault(name):
            raise InputError(
                f'medium "{name[:MOST_SHOWN]}": {fault}; a medium has a name, such as worn, or a path with a slash'
            )
        return StoredMedium(paths.cache_root() / "media" / name)
    try:
        folder = (base / Path(name).expanduser()).absolute()
    except RuntimeError:
        raise InputError(f"medium {name}: there is no such user") from None
    if not folder.name:
        raise InputError(f"medium {name}: is the root directory; name a folder in it")
    return StoredMedium(folder)


def _fault(name: str) -> str:
    """Return why this cannot be the name of a directory; "" if it can."""
    if not name.strip():
        return "has no name"
    if name.startswith("."):
        return "begins with a dot"
    if not name.isprintable():
        return "has characters that cannot be printed"
    return "is too long" if len(name.encode()) > LONGEST_NAME_BYTES else ""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's size and of its pieces that are not all zero. Holes do not change it. Raises
    InputError if the file cannot be read.
    """
    total = hashlib.sha256(f"{_size(path)}\n".encode())
    for offset, piece in _pieces(path):
        total.update(f"{offset}\0".encode())
        total.update(piece)
    return total.hexdigest()


def copy(source: Path, to: Path) -> None:
    """Copy a file. Zeros take no space in the copy. Raises InputError if the file cannot be read, HostResourceError if
    the copy cannot be written.
    """
    size = _size(source)
    try:
        sparse.write(to, size, _pieces(source))
    except OSError as error:
        raise host_refusal(to, error) from None


def _size(path: Path) -> int:
    try:
        with own_file.opened(path, own=True) as file:
            return os.fstat(file.fileno()).st_size
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{shown(path, 300)}: cannot be read: {error.strerror}; is this a medium's folder?")


def _pieces(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces of a file that are not all zero, with their offsets. Skip holes. Raises InputError."""
    try:
        with own_file.opened(path, own=True) as file:
            yield from sparse.pieces(file)
    except OSError as error:
        raise _unreadable(path, error) from None
