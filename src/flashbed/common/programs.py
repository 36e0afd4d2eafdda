# SPDX-License-Identifier: Apache-2.0
"""Programs of this host: where one is, and what to say where it is not. Must not know what they are for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from flashbed.common.errors import SetupError

SYSTEM_PATH = "/usr/sbin:/sbin"
"""Where Debian keeps what makes and checks file systems; not on the path of an ordinary user."""


def search_path(first: Path | None = None) -> str:
    """For PATH: the folder `first`, the user's path, and the system's."""
    return ":".join([*([str(first)] if first else []), os.environ.get("PATH", ""), SYSTEM_PATH])


def found(program: str, first: Path | None = None) -> Path | None:
    """Where a program is: in the folder `first`, or where programs are on this host; None if it is nowhere."""
    place = shutil.which(program, path=search_path(first))
    return Path(place) if place else None


def missing(program: str | Path) -> SetupError:
    """What to tell of a program that is nowhere."""
    return SetupError(f"{program} is not installed. `flashbed doctor` says how to get it.")
