# SPDX-License-Identifier: Apache-2.0
"""A cache without results that has the guest built before, which is expensive and depends on nothing that tests do."""

from __future__ import annotations

from pathlib import Path

from flashbed.common import paths

BUILT = ("image", "debian-amd64", "debian-arm64")
"""Folders of the real cache."""


def empty_cache(folder: Path) -> Path:
    """The folder, which is made, for FLASHBED_CACHE."""
    folder.mkdir()
    for name in BUILT:
        (paths.cache_root() / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(paths.cache_root() / name)
    return folder
