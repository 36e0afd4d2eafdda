# SPDX-License-Identifier: Apache-2.0
"""Handle text that a guest, a pack or a study chose: print it safely on a terminal, quote it in a message, and make
paths of file names.

A terminal obeys control characters: they move the cursor, change the title, or overwrite earlier output. rich's
Text.from_ansi() does not fit: it drops the text before a carriage return, and keeps a window title and NUL. Only
`path_below` makes a path of a foreign name. Must not know who sent the text, nor where it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_SEQUENCES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]+[0-~]|[0-Z\\^-~])")
"""Terminal sequences, such as colours, window titles and cursor queries (ECMA-48, 5.3 and 5.4)."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

MOST_OF_A_LINE = 200
"""The most characters of foreign text in one message."""


def plain(text: str, keep: str = "") -> str:
    r"""Return `text` with each unprintable character as its number, such as \x1b. Characters in `keep` stay."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else f"\\x{ord(letter):02x}" for letter in text)


def without_controls(text: str) -> str:
    """Return console output without terminal sequences and control characters; keep tabs and line ends."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


def line(text: str, most: int = MOST_OF_A_LINE) -> str:
    """Return `text` on one line: printable, with single spaces, and cut after `most` characters."""
    text_line = plain(" ".join(text[: 8 * most].split()))
    return text_line if len(text_line) <= most else f"{text_line[:most]}..."


MOST_NAME_BYTES = 255
"""The longest name with all its directories, in UTF-8 bytes: most file systems allow this for one component."""

MOST_NAME_PARTS = 8


class ForeignNameError(ValueError):
    """A name that must not become a path. The text shows the name and the reason."""


def name_fault(name: str) -> str:
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
    if len(name.encode()) > MOST_NAME_BYTES:
        return f"is longer than {MOST_NAME_BYTES} bytes"
    if len(parts) > MOST_NAME_PARTS:
        return f"is more than {MOST_NAME_PARTS} folders deep"
    return ""


def name_conflict(names: Iterable[str]) -> str:
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


def path_below(folder: Path, name: str) -> Path:
    """Return the path of the file `name` below `folder`. Raises ForeignNameError."""
    if why := name_fault(name):
        raise ForeignNameError(f"not a name for a file: {name!r} {why}")
    return folder / name
