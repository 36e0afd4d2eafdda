# SPDX-License-Identifier: Apache-2.0
"""Keeps each repetition's result under its key: a folder that is complete or absent.

No index stands beside the folders: 10,000 of them are listed in a tenth of a second. Must not know what is in a
result, nor how a key is made.
"""

import contextlib
import errno
import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashbed.common import foreign_names, locks
from flashbed.common.digest import digest_file
from flashbed.common.errors import FlashbedError, HostResourceError, InputError, host_refusal

_log = logging.getLogger("flashbed")

RESULT = "result.json"
DIGESTS = "digests.txt"
"""In the format of sha256sum, so that `sha256sum -c digests.txt` checks a folder without flashbed."""

_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class StoredResult:
    """A repetition in the store."""

    key: str
    folder: Path
    result: dict[str, Any]

    def path(self, name: str) -> Path:
        """Where an artefact is. Raises InputError if there is none of that name."""
        path = self.folder / name
        if name not in self.names():
            raise InputError(f"{self.folder}: no file {name}; there are: {', '.join(self.names())}")
        return path

    def read(self, name: str) -> bytes:
        """An artefact's bytes. Raises InputError if there is none of that name."""
        return self.path(name).read_bytes()

    def names(self) -> list[str]:
        """The names of all artefacts."""
        return sorted(name for name in _read_digests(self.folder) if name != RESULT)


@dataclass(frozen=True)
class Different:
    """Two results of one key, where only one can be: the folder in the store, and the later one."""

    key: str
    kept: Path
    other: Path


class Store:
    """Results under `root`, which is made if it is not there. Safe for several processes at a time."""

    def __init__(self, root: Path) -> None:
        """Raises HostResourceError: no room, no permission."""
        self.root = root.absolute()
        with self._host_resources():
            self._cells.mkdir(parents=True, exist_ok=True)
            self._scratch.mkdir(parents=True, exist_ok=True)
        locks.clean(self._scratch)
        locks.sweep(self._claims)

    @property
    def _cells(self) -> Path:
        return self.root / "cells"

    @property
    def _scratch(self) -> Path:
        return self.root / "tmp"

    @property
    def _claims(self) -> Path:
        return self.root / "claims"

    @property
    def quarantine(self) -> Path:
        """Where damaged folders go."""
        return self.root / "quarantine"

    @property
    def disagreements(self) -> Path:
        """Where a result goes that differs from one of the same key."""
        return self.root / "different"

    def claim(self, key: str) -> locks.Lock | None:
        """The right to measure a repetition, until it is released; None while another process has it."""
        return locks.take(self._claims / f"{key}.lock")

    def different(self) -> list[Different]:
        """All results that were put beside another of the same key, until somebody removes them."""
        there = sorted(self.disagreements.glob("*.*")) if self.disagreements.is_dir() else []
        return [Different(path.stem, self.folder(path.stem), path) for path in there if _KEY.fullmatch(path.stem)]

    def folder(self, key: str) -> Path:
        """Where a repetition's folder is, or would be."""
        return self._cells / key[:2] / key

    def put(
        self,
        key: str,
        files: Mapping[str, bytes | Path],
        result: Mapping[str, Any],
    ) -> StoredResult:
        """Keeps a result with its artefacts; whatever happens, the folder is whole or absent.

        `files` are artefacts by name ("fio.json", "logs/console.txt"): bytes, or a file to copy. A key
        that is there already stays as it is; if this result differs from it, both are kept (`different`). Raises
        ForeignNameError for a name that leads elsewhere, HostResourceError.
        """
        if not _KEY.fullmatch(key):
            raise ValueError(f"not a key: {key!r}")
        told = _json(result)
        content: dict[str, bytes | Path] = {
            RESULT: told,
            **{_checked_name(name): content for name, content in files.items()},
        }
        with self._host_resources(), locks.scratch(self._scratch) as scratch:
            written = scratch / key
            _write_folder(written, content)
            self._move_in(written, key)
        return StoredResult(key, self.folder(key), json.loads(told))

    def get(self, key: str) -> StoredResult | None:
        """The result of a key, or None. A damaged folder is moved to quarantine/ with a warning, and counts as None."""
        folder = self.folder(key)
        try:
            return StoredResult(key, folder, _verified(folder))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            if not folder.exists():
                return None
            damage = "a file is missing"
        except ValueError as error:
            damage = str(error)
        except OSError as error:  # says nothing about the result: too many open files, no permission, a broken disk
            raise host_refusal(folder, error) from error
        self._set_aside(folder, damage)
        return None

    def find(self, prefix: str) -> StoredResult:
        """The result whose key starts with `prefix`. Raises InputError: none, several, or not a prefix of a key."""
        prefix = prefix.strip().lower()
        if not re.fullmatch(r"[0-9a-f]{1,64}", prefix):
            raise InputError(f'"{prefix}" is not the start of a key: a key has the digits 0-9 and a-f')
        found = [key for key in self.keys(prefix[:2]) if key.startswith(prefix)]
        if len(found) > 1:
            shown = ", ".join(key[: len(prefix) + 8] for key in found[:5]) + (" ..." if len(found) > 5 else "")
            raise InputError(f'"{prefix}" is the start of {len(found)} keys ({shown}); give more digits')
        stored = self.get(found[0]) if found else None
        if stored is None:
            raise InputError(f'no result with a key that starts with "{prefix}" in {self.root}')
        return stored

    def keys(self, start: str = "") -> list[str]:
        """The keys of all folders, damaged ones too, sorted; `start` narrows them by its first two digits."""
        found = [path.name for path in self._cells.glob(f"{start.ljust(2, '?')[:2]}/*") if _KEY.fullmatch(path.name)]
        return sorted(found)

    def _move_in(self, written: Path, key: str) -> None:
        """Gives a complete folder its name: from then on the result exists."""
        folder = self.folder(key)
        folder.parent.mkdir(exist_ok=True)
        for _ in range(3):
            try:
                written.rename(folder)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                if self.get(key) is not None:
                    self._compare(written, folder)
                    return  # this result was there first
            else:
                _sync(folder.parent)
                _sync(self._cells)
                return
        raise HostResourceError(f"{folder}: another process keeps putting a damaged result there")

    def _compare(self, written: Path, folder: Path) -> None:
        """Same key, same artefacts: if that does not hold, a source of chance is open."""
        before, now = ({**_read_digests(where), RESULT: ""} for where in (folder, written))
        names = sorted(name for name in before | now if before.get(name) != now.get(name))
        if not names:
            return
        self.disagreements.mkdir(exist_ok=True)
        other = self.disagreements / f"{folder.name}.{secrets.token_hex(4)}"
        written.rename(other)
        for name in names:
            told = "%s: the same repetition gave another %s this time; the first one is kept, the other in %s"
            _log.warning(told, folder, name, other)

    def _set_aside(self, folder: Path, damage: str) -> None:
        with self._host_resources():
            self.quarantine.mkdir(exist_ok=True)
            place = self.quarantine / f"{folder.name}.{secrets.token_hex(4)}"
            try:
                folder.rename(place)
            except FileNotFoundError:
                return  # another process did it
        _log.warning("%s is damaged (%s): moved to %s; it will be run again", folder, damage, place)

    @contextlib.contextmanager
    def _host_resources(self) -> Iterator[None]:
        try:
            yield
        except FlashbedError:
            raise
        except OSError as error:
            raise host_refusal(self.root, error) from error


def _json(result: Mapping[str, Any]) -> bytes:
    return (json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _checked_name(name: str) -> str:
    if name in (RESULT, DIGESTS):
        raise foreign_names.ForeignNameError(f"not a name for an artefact: {name} is the store's own")
    return name


def _write_folder(folder: Path, content: Mapping[str, bytes | Path]) -> None:
    folder.mkdir()
    digests = {name: _write(foreign_names.below(folder, name), source) for name, source in content.items()}
    _write(folder / DIGESTS, "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode())
    for parent in {(folder / name).parent for name in content}:
        _sync(parent)
    _sync(folder)


def _write(path: Path, source: bytes | Path) -> str:
    """Writes a file through to the disk, and gives its digest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(source, bytes):
        path.write_bytes(source)
    else:
        shutil.copyfile(source, path)
    _sync(path)
    return digest_file(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_digests(folder: Path) -> dict[str, str]:
    lines = (folder / DIGESTS).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _verified(folder: Path) -> dict[str, Any]:
    """The result in a folder. Raises FileNotFoundError or ValueError if not all is as it was put."""
    digests = _read_digests(folder)
    if RESULT not in digests:
        raise ValueError(f"{DIGESTS} does not name {RESULT}")
    for name, digest in digests.items():
        if digest_file(folder / name) != digest:
            raise ValueError(f"{name} is not what was written")
    result = json.loads((folder / RESULT).read_bytes())
    if not isinstance(result, dict):
        raise ValueError(f"{RESULT} is not a table")
    return result
