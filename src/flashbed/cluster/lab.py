# SPDX-License-Identifier: Apache-2.0
"""Identifies this lab, so that no lab works for another: a result must come from the lab that stores it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flashbed.common.digest import digest_bytes, digest_file

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def identity() -> str:
    """Return the version and a digest of the Python code, because two commits may have the same version. It is the same
    for a clone and a wheel.
    """
    files = sorted(_PACKAGE.rglob("*.py"))
    text = "".join(f"{file.relative_to(_PACKAGE).as_posix()}\0{digest_file(file)}\n" for file in files)
    try:
        number = version("flashbed")
    except PackageNotFoundError:
        number = "not installed"
    return f"{number} ({digest_bytes(text.encode())[:12]})"
