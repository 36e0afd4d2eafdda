# SPDX-License-Identifier: Apache-2.0
"""The lock that this process keeps to, and how strictly: chosen once, by the command, before anything is fetched.

Without a choice it is the repository's own, which is taken where it can be. Knows nothing of apt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed.common import paths
from flashbed.image import lockfile
from flashbed.image.lockfile import Lockfile

ENDING = ".lock"
"""In place of a study's .toml: its own lock."""


@dataclass(frozen=True)
class Pins:
    """`strict`: what the lock names is used, or nothing is. Without a lock Debian's archive decides."""

    lock: Lockfile | None
    strict: bool = False

    @property
    def suite(self) -> str:
        """Of Debian, that packages come from."""
        return self.lock.suite if self.lock else lockfile.SUITE


_chosen: Pins | None = None


def choose(pins: Pins | None) -> None:
    """From now on. None: as at the beginning."""
    global _chosen
    _chosen = pins


def current() -> Pins:
    """What was chosen, else the repository's own lock. Raises InputError if that is damaged."""
    return _chosen if _chosen is not None else Pins(shipped())


def shipped_path() -> Path:
    """Of the lock of the repository's own studies."""
    return paths.studies() / f"flashbed{ENDING}"


@cache
def shipped() -> Lockfile | None:
    """The lock of the repository's own studies, if it is there. Raises InputError if it is damaged."""
    return lockfile.read(shipped_path()) if shipped_path().is_file() else None


def path_for(study: Path) -> Path:
    """The lock that a study is under: its own, if one lies beside it, else the repository's."""
    own = study.with_suffix(ENDING)
    return own if own.is_file() else shipped_path()
