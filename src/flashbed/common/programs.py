# SPDX-License-Identifier: Apache-2.0
"""Find programs of this host, and say how to get a missing one. Must not know what they are for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from flashbed.common.errors import SetupError

SYSTEM_PATH = "/usr/sbin:/sbin"
"""Debian's directories for mkfs and fsck, which are not on the PATH of an ordinary user."""


def search_path(first: Path | None = None) -> str:
    """Return a PATH of the directory `first`, the user's PATH and the system's directories."""
    return ":".join([*([str(first)] if first else []), os.environ.get("PATH", ""), SYSTEM_PATH])


def find(program: str, first: Path | None = None) -> Path | None:
    """Return the path of a program, from the directory `first` or from this host; None if it is missing."""
    place = shutil.which(program, path=search_path(first))
    return Path(place) if place else None


def missing(program: str | Path) -> SetupError:
    """Return the error to raise for a missing program."""
    return SetupError(f"{program} is not installed. `flashbed doctor` says how to get it.")
