# SPDX-License-Identifier: Apache-2.0
"""Fetch packages and sources of one Debian release, without touching the host's package database, on any host release.

What the lock names is taken by origin and digest. apt resolves and verifies the rest. The result of each request is
noted and kept until an update is requested, so that an image does not change during a study.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from flashbed.common import atomic, locks
from flashbed.common.errors import InputError, SetupError, host_refusal
from flashbed.common.progress import stage
from flashbed.image import lockfile
from flashbed.image.apt import Apt
from flashbed.image.command import run
from flashbed.image.lockfile import ArchiveFile, Lockfile, Pins

_log = logging.getLogger("flashbed")

REQUEST_NOTES = "packages.json"
"""The file that notes the result of each request."""

_warned: set[str] = set()
"""Requests and note files about which this process has warned."""


@dataclass(frozen=True)
class Packages:
    """The result of a request: files of the archive."""

    in_archive: tuple[ArchiveFile, ...]

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Return names and digests, for recipes."""
        return tuple((file.name, f"SHA256:{file.sha256}") for file in self.in_archive)

    def version(self, package: str) -> str:
        """Return the version of one package in the set, such as 3.33-3. Raises SetupError if the set lacks it."""
        for file in self.in_archive:
            if file.name.startswith(package + "_") and file.name.endswith((".deb", ".dsc")):
                return file.version
        raise SetupError(f"the Debian archive did not offer {package}")


def asked(packages: Sequence[str], *, source: bool = False, alone: bool = False) -> str:
    """Return the name under which a request is noted."""
    return ("source " if source else "alone " if alone else "") + " ".join(packages)


class Archive:
    """Debian's archive for one architecture, with its state below `root`. One process at a time uses apt there."""

    def __init__(self, root: Path, architecture: str, kept_to: Pins | None = None) -> None:
        """Make an archive. `kept_to` replaces the lock that the process keeps to."""
        self.root = root
        self.architecture = architecture
        self._kept_to = kept_to
        self._notes = root / REQUEST_NOTES

    @classmethod
    def below(cls, cache_root: Path, architecture: str, kept_to: Pins | None = None) -> Self:
        """Return the archive of an architecture, with its state at its place below the cache `cache_root`."""
        return cls(cache_root / f"debian-{architecture}", architecture, kept_to)

    def of(self, architecture: str) -> Self:
        """Return the archive of another architecture, beside this one."""
        return self.below(self.root.parent, architecture, self._kept_to)

    @property
    def _apt(self) -> Apt:
        return Apt(self.root, self.architecture, self._pins.suite)

    @property
    def _pins(self) -> Pins:
        return self._kept_to if self._kept_to is not None else lockfile.current_pins()

    @contextmanager
    def without_versions(self) -> Iterator[None]:
        """Ignore the notes in the block: `resolve` asks the lock, and the mirror for what the lock does not name. If
        the block fails, restore the notes.
        """
        before = self._notes.with_suffix(".before")
        with self._alone():
            self._move(self._notes, before)
            self._apt.forget_lists()
        try:
            yield
        except BaseException:
            with self._alone():
                self._move(before, self._notes)
            raise
        before.unlink(missing_ok=True)

    def _move(self, file: Path, to: Path) -> None:
        """Move a file if it exists."""
        try:
            with suppress(FileNotFoundError):
                file.replace(to)
        except OSError as error:
            raise host_refusal(file, error) from None

    def resolve(self, packages: Sequence[str], *, source: bool = False, alone: bool = False) -> Packages:
        """Return the files of `packages` and of all that they depend on: the noted ones, else those of the lock, else
        those of the mirror. With `alone`, without dependencies.

        Raises SetupError if the lock is binding, but does not name the request or names an unavailable file.
        """
        request = asked(packages, source=source, alone=alone)
        if (files := self._kept(request)) is None:
            with self._alone():
                if (files := self._kept(request)) is None:
                    files = self._take_pinned(request) or self._ask(packages, source=source, alone=alone)
                    self._note(request, files)
        return Packages(files)

    def known(self, packages: Sequence[str], *, source: bool = False, alone: bool = False) -> Packages | None:
        """Return the noted files, else those of the lock; None if there are neither. Ask and fetch nothing."""
        request = asked(packages, source=source, alone=alone)
        files = self._kept(request)
        if files is None and self._pins.lock:
            files = self._pins.lock.files(self.architecture, request)
        return None if files is None else Packages(files)

    def fetch(self, packages: Sequence[str], resolved: Packages, *, source: bool = False) -> list[Path]:
        """Return the files that `resolve` named; fetch those that are missing or broken. Raises SetupError if no mirror
        has one any more.
        """
        with self._alone():
            if lost := self._apt.obtain(resolved.in_archive):
                of = asked(packages, source=source)
                today = "`flashbed image build --update` takes the versions of today"
                raise SetupError(f"{of}: {_lost(lost)}. {today}. {self._by_hand(lost)}.")
        return [self._apt.place(file) for file in resolved.in_archive]

    def lacks(self, resolved: Packages) -> bool:
        """Return True if any of these must be fetched."""
        return bool(self._apt.lacking(resolved.in_archive))

    def unpack(self, debs: Sequence[Path], into: Path) -> None:
        """Unpack binary packages over each other, as on a disk."""
        into.mkdir(parents=True, exist_ok=True)
        for deb in debs:
            run(["dpkg-deb", "-x", deb, into])

    def _kept(self, request: str) -> tuple[ArchiveFile, ...] | None:
        """Return the noted files, if the lock allows them. Warn once about a difference that it allows."""
        noted = self._read(request).get(request)
        lock = self._pins.lock
        pinned = lock.files(self.architecture, request) if lock else None
        if noted is None or (noted == pinned) or lock is None:
            return noted
        if self._pins.strict:
            return None
        if pinned is not None and request not in _warned:
            _warned.add(request)
            warning = "%s: names %s; `--locked` takes what it names"
            _log.warning(warning, lock.path, _difference(request, pinned, noted))
        return noted

    def _take_pinned(self, request: str) -> tuple[ArchiveFile, ...] | None:
        """Fetch and return the files that the lock names; None if it names none, or if one is unavailable. The caller
        holds the lock of `_alone`.
        """
        lock, strict = self._pins.lock, self._pins.strict
        if lock is None:
            return None
        pinned = lock.files(self.architecture, request)
        if pinned is None:
            if strict:
                raise SetupError(f"{lock.path}: does not name {request} for {self.architecture}, which is needed")
            return None
        try:
            with stage(f"Fetching {request}") if self._apt.lacking(pinned) else nullcontext():
                lost = self._apt.obtain(pinned)
        except SetupError:
            if strict:
                raise
            lost = list(pinned)
        if not lost:
            self._check_sizes(lock, pinned)
            return pinned
        if strict:
            raise SetupError(f"{lock.path}: {request}: {_lost(lost)}. {self._by_hand(lost)}.")
        _log.warning("%s: %s: %s; taking what %s has now", lock.path, request, _lost(lost), lock.suite)
        return None

    def _check_sizes(self, lock: Lockfile, files: Sequence[ArchiveFile]) -> None:
        """Raise InputError if the lock has another size than the file with its digest."""
        for file in files:
            if (size := self._apt.place(file).stat().st_size) != file.size:
                problem = f'files."{file.name}".bytes: is {file.size}, and the file with that SHA-256 has {size} bytes'
                raise InputError(f"{lock.path}: {problem}")

    def _by_hand(self, lost: Sequence[ArchiveFile]) -> str:
        """Return advice on files that no mirror has."""
        folders = " and ".join(sorted({str(self._apt.place(file).parent) for file in lost}))
        return f"A file with that digest from elsewhere (Debian keeps all at snapshot.debian.org) goes into {folders}"

    def _read(self, only: str | None = None) -> dict[str, tuple[ArchiveFile, ...]]:
        """Return the notes, or that of the request `only`. A damaged file counts as empty: the lock, or apt's lists,
        give the same files again.
        """
        try:
            noted = json.loads(self._notes.read_text())
            noted = noted if only is None else {only: noted.get(only)}
            return {request: tuple(_as_file(entry) for entry in files) for request, files in noted.items() if files}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            if str(self._notes) not in _warned:
                _log.warning("%s: damaged; the versions are noted again", self._notes)
            _warned.add(str(self._notes))
        return {}

    def _note(self, request: str, files_of_request: Sequence[ArchiveFile]) -> None:
        """Note the result of a request. The caller holds the lock of `_alone`."""
        known = {**self._read(), request: files_of_request}
        table = {request_name: [asdict(file) for file in files] for request_name, files in known.items()}
        try:
            atomic.write(self._notes, json.dumps(table, indent=1, sort_keys=True).encode())
        except OSError as error:
            raise host_refusal(self._notes, error) from None

    def _ask(self, packages: Sequence[str], *, source: bool, alone: bool) -> tuple[ArchiveFile, ...]:
        """Return what the mirror has now. The caller holds the lock of `_alone`."""
        return self._apt.offered(packages, source=source, alone=alone)

    def _alone(self) -> locks.Lock:
        """Wait for the lock on apt's state, and return it. apt itself does not wait for its own lock."""

        def say() -> None:
            _log.warning("another run is fetching packages from Debian; waiting for it")

        return locks.wait_for(self.root / ".lock", say)


def _as_file(noted: Any) -> ArchiveFile:
    file = ArchiveFile(**noted)
    if not all(isinstance(value, str) for value in (file.name, file.sha256, file.origin)) or type(file.size) is not int:
        raise TypeError("not a file")
    return file


def _versions(files: Sequence[ArchiveFile]) -> str:
    return ", ".join(sorted({file.version for file in files}))


def _difference(request: str, pinned: Sequence[ArchiveFile], noted: Sequence[ArchiveFile]) -> str:
    """Return how the lock's files differ from the used ones."""
    if (names := _versions(pinned)) != (used := _versions(noted)):
        return f"{names} for {request}, and {used} is used here"
    used_by_name = {file.name: file for file in noted}
    differences = [_other(file, used_by_name.get(file.name)) for file in pinned if used_by_name.get(file.name) != file]
    differences += [f"{name} (here only)" for name in sorted(used_by_name.keys() - {file.name for file in pinned})]
    return f"the same versions for {request} as are used here, but other files: {_first(differences)}"


def _other(file: ArchiveFile, here: ArchiveFile | None) -> str:
    if here is None:
        return f"{file.name} (not here)"
    if file.sha256 != here.sha256:
        return f"{file.name} (SHA-256 {file.sha256[:16]}..., here {here.sha256[:16]}...)"
    if file.size != here.size:
        return f"{file.name} ({file.size} bytes, here {here.size})"
    return f"{file.name} (from {file.origin}, here from {here.origin})"


def _first(items: Sequence[str]) -> str:
    return ", ".join(items[:3]) + (f" and {len(items) - 3} more" if len(items) > 3 else "")


def _lost(files: Sequence[ArchiveFile]) -> str:
    """Return which files are unavailable, and where they came from."""
    descriptions = [f"{file.name} (SHA-256 {file.sha256[:16]}..., from {file.origin})" for file in files]
    return f"no mirror here has {_first(descriptions)} any more"
