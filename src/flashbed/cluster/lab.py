# SPDX-License-Identifier: Apache-2.0
"""Which lab this is, so that none works for another: a result has to be of the lab that keeps it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flashbed.common.digest import digest_bytes, digest_file

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def identity() -> str:
    """Its version, and a digest of its Python code: two commits have one version. The same for a clone and a wheel."""
    files = sorted(_PACKAGE.rglob("*.py"))
    text = "".join(f"{file.relative_to(_PACKAGE).as_posix()}\0{digest_file(file)}\n" for file in files)
    try:
        number = version("flashbed")
    except PackageNotFoundError:
        number = "not installed"
    return f"{number} ({digest_bytes(text.encode())[:12]})"
