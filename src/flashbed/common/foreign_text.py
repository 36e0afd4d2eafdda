# SPDX-License-Identifier: Apache-2.0
"""Make text of a guest, a pack or a study safe to print on a terminal and to quote in a message.

A terminal obeys control characters: they move the cursor, change the title, or overwrite earlier output. Must not know
where the text goes. rich's Text.from_ansi() does not fit: it drops the text before a carriage return, and keeps a
window title and NUL.
"""

from __future__ import annotations

import re

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
