# SPDX-License-Identifier: Apache-2.0
"""Text that somebody else wrote, a guest, a pack or a study, made fit for a terminal and for a sentence of the lab's.

A terminal obeys control characters: they move the cursor, change the title, or fake what was printed before. Must not
know where the text goes. rich's Text.from_ansi() is no help: it drops what stands before a carriage return, and keeps a
window's title and NUL.
"""

from __future__ import annotations

import re

_SEQUENCES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]+[0-~]|[0-Z\\^-~])")
"""Of a terminal, such as colours, the title of a window, or the question where the cursor is (ECMA-48, 5.3 and 5.4)."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

MOST_OF_A_LINE = 200
"""Characters of foreign text in a sentence."""


def plain(text: str, keep: str = "") -> str:
    r"""`text` with each character that cannot be printed as its number, as \x1b; those in `keep` stay."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else f"\\x{ord(letter):02x}" for letter in text)


def without_controls(text: str) -> str:
    """Return console output without terminal sequences and control characters; tabs and line ends stay."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


def line(text: str, most: int = MOST_OF_A_LINE) -> str:
    """`text` on one line: printable, with single spaces, and cut where it is longer than `most` characters."""
    words = plain(" ".join(text[: 8 * most].split()))
    return words if len(words) <= most else f"{words[:most]}..."
