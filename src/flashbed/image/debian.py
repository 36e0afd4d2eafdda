# SPDX-License-Identifier: Apache-2.0
"""Packages and sources of one release of Debian, without touching the host's package database, and whatever release
the host is.

What the lock names is taken as it is, by origin and digest. What it does not name, apt resolves and checks. What was
taken is noted and kept until an update is asked for, so that an image does
not change under a study.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flashbed.common import atomic, locks
from flashbed.common.errors import InputError, SetupError, host_refusal
from flashbed.common.progress import stage
from flashbed.image import pins
from flashbed.image.apt import Apt
from flashbed.image.command import run
from flashbed.image.lockfile import File, Lockfile
from flashbed.image.pins import Pins

_log = logging.getLogger("flashbed")

NOTES = "packages.json"
"""What was taken, by what was asked."""

_told: set[str] = set()
"""What this process has said already."""


@dataclass(frozen=True)
class Packages:
    """What a request came to: files of the archive."""

    found: tuple[File, ...]

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Names and digests, for recipes."""
        return tuple((one.name, f"SHA256:{one.sha256}") for one in self.found)

    def version(self, package: str) -> str:
        """The version of one package in the set, such as 3.33-3."""
        for one in self.found:
            if one.name.startswith(package + "_") and one.name.endswith((".deb", ".dsc")):
                return one.version
        raise SetupError(f"the Debian archive did not offer {package}")


def asked(packages: Sequence[str], *, source: bool = False, alone: bool = False) -> str:
    """What a request is noted as."""
    return ("source " if source else "alone " if alone else "") + " ".join(packages)


class Archive:
    """Debian's archive for one architecture, with its state below `root`. Of several processes one at a time uses apt
    there.
    """

    def __init__(self, root: Path, architecture: str, kept_to: Pins | None = None) -> None:
        """`kept_to`: in place of the lock that the process keeps to."""
        self.root = root
        self.architecture = architecture
        self._kept_to = kept_to
        self._notes = root / NOTES

    def of(self, architecture: str) -> Archive:
        """The same for another architecture, beside it."""
        return type(self)(self.root.with_name(f"debian-{architecture}"), architecture, self._kept_to)

    @property
    def _apt(self) -> Apt:
        return Apt(self.root, self.architecture, self._pins.suite)

    @property
    def _pins(self) -> Pins:
        return self._kept_to if self._kept_to is not None else pins.current()

    @contextmanager
    def without_versions(self) -> Iterator[None]:
        """In the block nothing is noted yet: resolve asks the lock, and the mirror for what that does not name. A block
        that fails leaves what was noted before.
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

    def _move(self, one: Path, to: Path) -> None:
        """If it is there."""
        try:
            with suppress(FileNotFoundError):
                one.replace(to)
        except OSError as error:
            raise host_refusal(one, error) from None

    def resolve(self, packages: Sequence[str], *, source: bool = False, alone: bool = False) -> Packages:
        """The files that `packages` and all they depend on come in: as noted, else as the lock has them, else as the
        mirror has them. `alone`: without what they depend on.

        Raises SetupError where the lock must be kept to, and does not name them or has what is not to be had.
        """
        request = asked(packages, source=source, alone=alone)
        if (found := self._kept(request)) is None:
            with self._alone():
                if (found := self._kept(request)) is None:
                    found = self._take_pinned(request) or self._ask(packages, source=source, alone=alone)
                    self._note(request, found)
        return Packages(found)

    def known(self, packages: Sequence[str], *, source: bool = False, alone: bool = False) -> Packages | None:
        """What is noted, else what the lock has; None if it is neither. Nothing is asked, and nothing fetched."""
        request = asked(packages, source=source, alone=alone)
        found = self._kept(request)
        if found is None and self._pins.lock:
            found = self._pins.lock.files(self.architecture, request)
        return None if found is None else Packages(found)

    def fetch(self, packages: Sequence[str], resolved: Packages, *, source: bool = False) -> list[Path]:
        """What `resolve` named, as files; fetched if it is not there, or not what the mirror gave. Raises SetupError
        if no mirror has it any more.
        """
        with self._alone():
            if lost := self._apt.obtain(resolved.found):
                of = asked(packages, source=source)
                today = "`flashbed image build --update` takes the versions of today"
                raise SetupError(f"{of}: {_lost(lost)}. {today}. {self._by_hand(lost)}.")
        return [self._apt.place(one) for one in resolved.found]

    def lacks(self, resolved: Packages) -> bool:
        """Whether any of these would have to be fetched."""
        return bool(self._apt.lacking(resolved.found))

    def unpack(self, debs: Sequence[Path], into: Path) -> None:
        """Unpacks binary packages over each other, as they would lie on a disk."""
        into.mkdir(parents=True, exist_ok=True)
        for deb in debs:
            run(["dpkg-deb", "-x", deb, into])

    def _kept(self, request: str) -> tuple[File, ...] | None:
        """What is noted, if the lock allows it; a difference that it allows is said once."""
        noted = self._read().get(request)
        lock = self._pins.lock
        pinned = lock.files(self.architecture, request) if lock else None
        if noted is None or (noted == pinned) or lock is None:
            return noted
        if self._pins.strict:
            return None
        if pinned is not None and request not in _told:
            _told.add(request)
            words = "%s: names %s; `--locked` takes what it names"
            _log.warning(words, lock.path, _difference(request, pinned, noted))
        return noted

    def _take_pinned(self, request: str) -> tuple[File, ...] | None:
        """What the lock names, fetched; None if it names nothing, or what is not to be had. To be called alone."""
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

    def _check_sizes(self, lock: Lockfile, files: Sequence[File]) -> None:
        """Raises InputError where the lock has another size than the file with its digest."""
        for one in files:
            if (size := self._apt.place(one).stat().st_size) != one.size:
                told = f'files."{one.name}".bytes: is {one.size}, and the file with that SHA-256 has {size} bytes'
                raise InputError(f"{lock.path}: {told}")

    def _by_hand(self, lost: Sequence[File]) -> str:
        """What to do about files that no mirror has."""
        folders = " and ".join(sorted({str(self._apt.place(one).parent) for one in lost}))
        return f"A file with that digest from elsewhere (Debian keeps all at snapshot.debian.org) goes into {folders}"

    def _read(self) -> dict[str, tuple[File, ...]]:
        """What is noted. A file that is damaged counts as empty: the lock, or apt's lists, give the same again."""
        try:
            noted = json.loads(self._notes.read_text())
            return {request: tuple(_as_file(one) for one in files) for request, files in noted.items() if files}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            if str(self._notes) not in _told:
                _log.warning("%s: damaged; the versions are noted again", self._notes)
            _told.add(str(self._notes))
        return {}

    def _note(self, request: str, found: Sequence[File]) -> None:
        """To be called alone."""
        known = {**self._read(), request: found}
        told = {asked: [asdict(one) for one in files] for asked, files in known.items()}
        try:
            atomic.write(self._notes, json.dumps(told, indent=1, sort_keys=True).encode())
        except OSError as error:
            raise host_refusal(self._notes, error) from None

    def _ask(self, packages: Sequence[str], *, source: bool, alone: bool) -> tuple[File, ...]:
        """What the mirror has now. To be called alone."""
        return self._apt.offered(packages, source=source, alone=alone)

    def _alone(self) -> locks.Lock:
        """apt itself does not wait for its lock."""

        def say() -> None:
            _log.warning("another run is fetching packages from Debian; waiting for it")

        return locks.wait_for(self.root / ".lock", say)


def _as_file(noted: Any) -> File:
    one = File(**noted)
    if not all(isinstance(value, str) for value in (one.name, one.sha256, one.origin)) or type(one.size) is not int:
        raise TypeError("not a file")
    return one


def _versions(files: Sequence[File]) -> str:
    return ", ".join(sorted({one.version for one in files}))


def _difference(request: str, pinned: Sequence[File], noted: Sequence[File]) -> str:
    """What a lock names, and what is used in place of it."""
    if (names := _versions(pinned)) != (used := _versions(noted)):
        return f"{names} for {request}, and {used} is used here"
    here = {one.name: one for one in noted}
    told = [_other(one, here.get(one.name)) for one in pinned if here.get(one.name) != one]
    told += [f"{name} (here only)" for name in sorted(here.keys() - {one.name for one in pinned})]
    return f"the same versions for {request} as are used here, but other files: {_first(told)}"


def _other(one: File, here: File | None) -> str:
    if here is None:
        return f"{one.name} (not here)"
    if one.sha256 != here.sha256:
        return f"{one.name} (SHA-256 {one.sha256[:16]}..., here {here.sha256[:16]}...)"
    if one.size != here.size:
        return f"{one.name} ({one.size} bytes, here {here.size})"
    return f"{one.name} (from {one.origin}, here from {here.origin})"


def _first(told: Sequence[str]) -> str:
    return ", ".join(told[:3]) + (f" and {len(told) - 3} more" if len(told) > 3 else "")


def _lost(files: Sequence[File]) -> str:
    """Which files are not to be had, and where they were from."""
    told = [f"{one.name} (SHA-256 {one.sha256[:16]}..., from {one.origin})" for one in files]
    return f"no mirror here has {_first(told)} any more"
