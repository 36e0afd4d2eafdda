# SPDX-License-Identifier: Apache-2.0
"""The lock that this process keeps to, and how strictly. A command chooses it once, before anything is fetched.

By default it is the repository's own lock, as far as it can be followed. Knows nothing of apt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashbed.common import paths
from flashbed.image import lockfile
from flashbed.image.lockfile import Lockfile

ENDING = ".lock"
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
        return self.lock.suite if self.lock else lockfile.SUITE


_chosen: Pins | None = None


def choose(pins: Pins | None) -> None:
    """Keep to these pins from now on. None: the default."""
    global _chosen
    _chosen = pins


def current() -> Pins:
    """Return the chosen pins, else the repository's own lock. Raises InputError if that is damaged."""
    return _chosen if _chosen is not None else Pins(shipped())


def shipped_path() -> Path:
    """Return the path of the lock of the repository's studies."""
    return paths.studies() / f"flashbed{ENDING}"


@cache
def shipped() -> Lockfile | None:
    """Return the lock of the repository's studies, if it exists. Raises InputError if it is damaged."""
    return lockfile.read(shipped_path()) if shipped_path().is_file() else None


def path_for(study: Path) -> Path:
    """Return the path of a study's lock: its own, if one lies beside it, else the repository's."""
    own = study.with_suffix(ENDING)
    return own if own.is_file() else shipped_path()
