# SPDX-License-Identifier: Apache-2.0
"""A cache without results that has the guest's parts from the real cache: they are expensive to build, and no test
changes them.
"""

from __future__ import annotations

from pathlib import Path

from flashbed.common import paths

BUILT = ("image", "debian-amd64", "debian-arm64")
"""Directories of the real cache."""


def empty_cache(folder: Path) -> Path:
    """Make the directory and return it, for FLASHBED_CACHE."""
    folder.mkdir()
    for name in BUILT:
        (paths.cache_root() / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(paths.cache_root() / name)
    return folder
