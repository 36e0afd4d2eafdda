# SPDX-License-Identifier: Apache-2.0
"""The library that makes QEMU's threads take turns (machine/turns.c), built by the host's compiler and cached."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from flashbed.common import paths
from flashbed.common.digest import digest_file
from flashbed.image.cache import Cache
from flashbed.image.command import run

NAME = "turns.so"


@cache
def digest() -> str:
    """Of the source, for the keys of results: what the compiler makes of it does not change them."""
    return digest_file(paths.machine() / "turns.c")


def library() -> Path:
    """The library, compiled if its source or the compiler changed."""
    return _library(paths.cache_root())


@cache
def _library(root: Path) -> Path:
    source = paths.machine() / "turns.c"
    recipe = {"source": digest(), "compiler": run(["cc", "--version"]).splitlines()[0]}

    def fill(folder: Path) -> None:
        run(["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", folder / NAME, source])

    return Cache(root / "image").entry("turns", recipe, fill).path(NAME)
