# SPDX-License-Identifier: Apache-2.0
"""Check file names that a guest or a pack chose, and make paths of them.

Only `below` makes a path of such a name. Must not know who sent it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

MOST_BYTES = 255
"""The longest name with all its directories, in UTF-8 bytes: most file systems allow this for one component."""

MOST_PARTS = 8


class ForeignNameError(ValueError):
    """A name that must not become a path. The text shows the name and the reason."""


def fault(name: str) -> str:
    """Return why `name` cannot be the name of a file below a directory, such as "is absolute"; "" if it can.

    A name that passes has one spelling only: no empty component, no "." and no "..", only printable characters.
    """
    if not name.isprintable():  # NUL, line ends, escapes, lone surrogates, bidirectional marks
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
    """Return the first name that conflicts with another: a duplicate, or a file that is also a directory; ""
    if none.
    """
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
    """Return the path of the file `name` below `folder`. Raises ForeignNameError."""
    if why := fault(name):
        raise ForeignNameError(f"not a name for a file: {name!r} {why}")
    return folder / name
