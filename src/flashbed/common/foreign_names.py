# SPDX-License-Identifier: Apache-2.0
"""Names of files that somebody else chose, a guest or a pack, and the paths that are made of them.

`below` is the one function that makes a path of such a name. Must not know who sent it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

MOST_BYTES = 255
"""The length of a name, with all its folders, in UTF-8: what most file systems allow for one part of it."""

MOST_PARTS = 8


class ForeignNameError(ValueError):
    """A name that must not become a path; the text shows it and says why."""


def fault(name: str) -> str:
    """Why `name` cannot be that of a file below a folder, as "is absolute"; "" if it can.

    A name that passes has one spelling only: no empty part, no "." and no "..", nothing but printable characters.
    """
    if not name.isprintable():  # NUL, line ends, escapes, lone surrogates, marks that turn the direction of text
        return "has characters that cannot be printed"
    if name.startswith("/"):
        return "is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of its folder"
    if "" in parts or "." in parts:
        return "is not the name of a file"
    if len(name.encode()) > MOST_BYTES:
        return f"is longer than {MOST_BYTES} bytes"
    if len(parts) > MOST_PARTS:
        return f"is more than {MOST_PARTS} folders deep"
    return ""


def conflict(names: Iterable[str]) -> str:
    """A name that cannot stand beside the others: one that comes twice, or is a file and a folder; "" if none."""
    files: set[str] = set()
    folders: set[str] = set()
    for name in names:
        above = {name[:place] for place, letter in enumerate(name) if letter == "/"}
        if name in files or name in folders or above & files:
            return name
        files.add(name)
        folders |= above
    return ""


def below(folder: Path, name: str) -> Path:
    """The path of the file `name` below `folder`. Raises ForeignNameError."""
    if why := fault(name):
        raise ForeignNameError(f"not a name for a file: {name!r} {why}")
    return folder / name
