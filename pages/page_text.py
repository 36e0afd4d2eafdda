# SPDX-License-Identifier: Apache-2.0
"""Format the pages that commands write: tables, and prose in lines of at most 120 columns. Write or check a page.

Must not know the content of a page. mdformat 1.0 does not fit: it wraps paragraphs that fit already, redraws the rules
of tables, and puts a backslash after a number at the start of a line. These pages avoid such line starts.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

COLUMNS = 120

_ITEM = re.compile(r"(\d+\.|[-*]) ")
"""The start of an item of a list."""

_WHOLE = re.compile(r"[|#]|!\[|```")
"""The start of a line that cannot be wrapped: of a table, a heading, an image, a command's output."""

_NUMBERED_HEADING = re.compile(r"(#+ \d+)\. (.*)")

_WOULD_MEAN = re.compile(r" (?=([-+*>]|#+|\d+[.)])( |$))")
"""A space that must not become a line end, because Markdown would read the next word as a list, a quote or a heading.
"""

_KEPT = "\0"


def table(titles: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return a table. Columns are aligned right, except those in `left`."""
    rules = ["---" if column in left else "---:" for column in range(len(titles))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (titles, rules, *lines))


def wrapped(page: str) -> str:
    """Return the page with each paragraph and item wrapped again that has a line of more than COLUMNS; others stay.

    Of a numbered heading that is too long, the number stays, and the text becomes a paragraph. Wrapping a wrapped page
    changes nothing.
    """
    return "".join(f"{line}\n" for block in _blocks(page) for line in _fitted(block))


def written(path: Path, page: str, *, check: bool, target: str) -> bool:
    """Write the page of `make TARGET`, wrapped, if it changes. With `check` write nothing; if the page would change,
    say so on stderr and return False.
    """
    text = wrapped(page)
    if path.is_file() and path.read_text() == text:
        return True
    if not check:
        path.write_text(text)
        return True
    name = path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path
    print(f"{name} is not what its command writes now; run `make {target}`", file=sys.stderr)
    return False


def _blocks(page: str) -> Iterator[list[str]]:
    """Yield groups of lines: a paragraph, a list item, a command's output. Other lines are groups of their own."""
    block: list[str] = []
    is_printed = False
    for line in page.splitlines():
        if line.startswith("```"):
            is_printed = not is_printed
            if is_printed:
                yield block
                block = []
        elif is_printed:
            pass
        elif not (block and block[0] and line) or any(map(_WHOLE.match, (block[0], line))) or _ITEM.match(line):
            yield block
            block = []
        block.append(line)
    yield block


def _fitted(block: Sequence[str]) -> list[str]:
    if all(len(line) <= COLUMNS for line in block) or block[0].startswith("```"):
        return list(block)
    if heading := _NUMBERED_HEADING.fullmatch(block[0]):
        return [heading[1], "", *_wrapped(heading[2], "")]
    if _WHOLE.match(block[0]):
        return list(block)
    item = _ITEM.match(block[0])
    return _wrapped(" ".join(line.strip() for line in block), " " * len(item[0]) if item else "")


def _wrapped(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(
        _WOULD_MEAN.sub(_KEPT, text),
        COLUMNS,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT, " ") for line in lines]
