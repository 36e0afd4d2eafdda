# SPDX-License-Identifier: Apache-2.0
"""Keep each repetition's result under its key: a directory that is complete or absent.

There is no index beside the directories: listing 10,000 of them takes a tenth of a second. Must not know how a key is
made, nor how a measurement follows from the artefacts.
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

from flashbed.common import foreign, locks, paths
from flashbed.common.digest import digest_bytes, digest_file
from flashbed.common.errors import FlashbedError, HostResourceError, InputError, host_refusal
from flashbed.result.result import Result, ResultError

_log = logging.getLogger("flashbed")

RESULT = "result.json"
DIGESTS = "digests.txt"
"""In the format of sha256sum, so that `sha256sum -c digests.txt` checks a folder without flashbed."""

_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class StoredResult:
    """A result in the store, without its measurement, and the directory of its artefacts."""

    result: Result
    folder: Path

    def path(self, name: str) -> Path:
        """Return the path of an artefact. Raises InputError if there is none of that name."""
        path = self.folder / name
        if name not in self.names():
            raise InputError(f"{self.folder}: no file {name}; there are: {', '.join(self.names())}")
        return path

    def read(self, name: str) -> bytes:
        """Return the bytes of an artefact. Raises InputError if there is none of that name."""
        return self.path(name).read_bytes()

    def names(self) -> list[str]:
        """Return the names of all artefacts, sorted."""
        return sorted(name for name in _read_digests(self.folder) if name != RESULT)


@dataclass(frozen=True)
class Different:
    """Two different results of one key: the directory in the store, and that of the later result."""

    key: str
    kept: Path
    other: Path


class Store:
    """The results under `root`, which is made if it is missing. Several processes may use it at a time."""

    def __init__(self, root: Path) -> None:
        """Open the store, and remove what killed processes left. Raises HostResourceError: no room, no permission."""
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
        """Return the directory for damaged results."""
        return self.root / "quarantine"

    @property
    def disagreements(self) -> Path:
        """Return the directory for results that differ from another of the same key."""
        return self.root / "different"

    def claim(self, key: str) -> locks.Lock | None:
        """Return the lock of a repetition, for measuring it; None while another process has it."""
        return locks.take(self._claims / f"{key}.lock")

    def different(self) -> list[Different]:
        """Return all results that differ from another of the same key, until somebody removes them."""
        folders = sorted(self.disagreements.glob("*.*")) if self.disagreements.is_dir() else []
        return [Different(path.stem, self.folder(path.stem), path) for path in folders if _KEY.fullmatch(path.stem)]

    def folder(self, key: str) -> Path:
        """Return the directory of a result, whether it exists or not."""
        return self._cells / key[:2] / key

    def put(self, result: Result, files: Mapping[str, bytes | Path]) -> StoredResult:
        """Keep a result with its artefacts under its key. Whatever happens, the directory is complete or absent.

        `files` maps names ("fio.json", "logs/console.txt") to bytes or to a file to copy. If the store has the key
        already, that result stays as it is; if its artefacts differ, both are kept (`different`). Raises
        ForeignNameError for a name that leads elsewhere, and HostResourceError.
        """
        key = result.key
        if not _KEY.fullmatch(key):
            raise ValueError(f"not a key: {key!r}")
        document = json.dumps(result.to_json(), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
        content: dict[str, bytes | Path] = {
            RESULT: f"{document}\n".encode(),
            **{_checked_name(name): content for name, content in files.items()},
        }
        with self._host_resources(), locks.scratch(self._scratch) as scratch:
            written = scratch / key
            _write_folder(written, content)
            self._move_in(written, key)
        return StoredResult(Result.from_json(json.loads(document)), self.folder(key))

    def get(self, key: str, medium_bytes: int | None = None) -> StoredResult | None:
        """Return the result of a key, or None. If its directory is damaged, move it to quarantine/ with a warning, and
        return None. `medium_bytes` is that of Result.from_json(). Raises InputError for a document that is no result,
        and HostResourceError.
        """
        folder = self.folder(key)
        try:
            document = _verified(folder)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            if not folder.exists():
                return None
            damage = "a file is missing"
        except ValueError as error:
            damage = str(error)
        except OSError as error:  # says nothing about the result: too many open files, no permission, a broken disk
            raise host_refusal(folder, error) from error
        else:
            return StoredResult(_parsed(document, folder, medium_bytes), folder)
        self._set_aside(folder, damage)
        return None

    def find(self, prefix: str) -> StoredResult:
        """Return the result whose key starts with `prefix`. Raises InputError if there is none, or several, or if it is
        not the start of a key.
        """
        prefix = prefix.strip().lower()
        if not re.fullmatch(r"[0-9a-f]{1,64}", prefix):
            raise InputError(f'"{prefix}" is not the start of a key: a key has the digits 0-9 and a-f')
        keys = [key for key in self.keys(prefix[:2]) if key.startswith(prefix)]
        if len(keys) > 1:
            shown = ", ".join(key[: len(prefix) + 8] for key in keys[:5]) + (" ..." if len(keys) > 5 else "")
            raise InputError(f'"{prefix}" is the start of {len(keys)} keys ({shown}); give more digits')
        stored = self.get(keys[0]) if keys else None
        if stored is None:
            raise InputError(f'no result with a key that starts with "{prefix}" in {self.root}')
        return stored

    def keys(self, start: str = "") -> list[str]:
        """Return the keys of all directories, damaged ones too, sorted; with `start`, those with the same first two
        digits.
        """
        folders = self._cells.glob(f"{start.ljust(2, '?')[:2]}/*")
        return sorted(folder.name for folder in folders if _KEY.fullmatch(folder.name))

    def _move_in(self, written: Path, key: str) -> None:
        """Give a complete directory its name. From then on the result exists."""
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
        """Keep both results of one key if their artefacts differ, and warn: a measurement was not deterministic."""
        before, now = ({**_read_digests(where), RESULT: ""} for where in (folder, written))
        names = sorted(name for name in before | now if before.get(name) != now.get(name))
        if not names:
            return
        self.disagreements.mkdir(exist_ok=True)
        other = self.disagreements / f"{folder.name}.{secrets.token_hex(4)}"
        written.rename(other)
        for name in names:
            _log.warning(
                "%s: the same repetition gave another %s this time; the first one is kept, the other in %s",
                *(folder, name, other),
            )

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


def open_store() -> Store:
    """Return the store of results in the cache. Raises HostResourceError."""
    return Store(paths.cache_root() / "results")


def _checked_name(name: str) -> str:
    if name in (RESULT, DIGESTS):
        raise foreign.ForeignNameError(f"not a name for an artefact: {name} is the store's own")
    return name


def _write_folder(folder: Path, content: Mapping[str, bytes | Path]) -> None:
    places = {name: foreign.path_below(folder, name) for name in content}
    folders = {folder, *(place.parent for place in places.values())}
    for parent in folders:
        parent.mkdir(parents=True, exist_ok=True)
    digests = {name: _write(places[name], source) for name, source in content.items()}
    _write(folder / DIGESTS, "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode())
    for parent in folders:
        _sync(parent)


def _write(path: Path, source: bytes | Path) -> str:
    """Write a file through to the disk, and return its digest."""
    if isinstance(source, bytes):
        path.write_bytes(source)
        digest = digest_bytes(source)
    else:
        shutil.copyfile(source, path)
        digest = digest_file(path)
    _sync(path)
    return digest


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_digests(folder: Path) -> dict[str, str]:
    lines = (folder / DIGESTS).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _parsed(document: object, folder: Path, medium_bytes: int | None) -> Result:
    """Return the result of the document in `folder`. Raises InputError."""
    try:
        return Result.from_json(document, medium_bytes)
    except ResultError as error:
        raise InputError(f"{folder / RESULT}: {error}; remove {folder} to measure it again") from None


def _verified(folder: Path) -> object:
    """Return the document in a directory. Raises FileNotFoundError or ValueError if a file is not as it was put."""
    digests = _read_digests(folder)
    if RESULT not in digests:
        raise ValueError(f"{DIGESTS} does not name {RESULT}")
    for name, digest in digests.items():
        if digest_file(f"{folder}/{name}") != digest:  # a Path costs more than the digest of a small file
            raise ValueError(f"{name} is not what was written")
    return json.loads((folder / RESULT).read_bytes())
