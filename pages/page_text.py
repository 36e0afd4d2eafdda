# SPDX-License-Identifier: Apache-2.0
"""What the pages that commands write are made of: tables, and prose in lines of at most 120 columns.

Must not know what a page says. mdformat 1.0 is no help: it wraps paragraphs that fit, sets the rules of tables anew,
and puts a backslash behind a number that comes to begin a line, where these pages keep it from there.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

COLUMNS = 120

_ITEM = re.compile(r"(\d+\.|[-*]) ")
"""How an item of a list begins."""

_WHOLE = re.compile(r"[|#]|!\[|```")
"""How a line begins that cannot be wrapped: of a table, a heading, a picture, what a command prints."""

_NUMBERED_HEADING = re.compile(r"(#+ \d+)\. (.*)")

_WOULD_MEAN = re.compile(r" (?=([-+*>]|#+|\d+[.)])( |$))")
"""A space that may not become the end of a line: Markdown would take what follows it for a list, a quote, a heading."""

_KEPT = "\0"


def table(titles: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """A table; columns are set to the right, but for those in `left`."""
    rules = ["---" if column in left else "---:" for column in range(len(titles))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (titles, rules, *lines))


def wrapped(page: str) -> str:
    """The page with each paragraph and each item that has a line of more than COLUMNS wrapped anew; others as they are.

    Of a numbered heading that is too long the number stays, and what it says becomes a paragraph. A page that has been
    wrapped stays as it is.
    """
    return "".join(f"{line}\n" for block in _blocks(page) for line in _fitted(block))


def written(path: Path, page: str, *, check: bool, target: str) -> bool:
    """Writes the page, wrapped, that `make TARGET` writes. With `check` nothing is written; if that would change the
    page, stderr says so, and the answer is False.
    """
    text = wrapped(page)
    if not check:
        path.write_text(text)
        return True
    if path.is_file() and path.read_text() == text:
        return True
    name = f"docs/{path.parent.name}/{path.name}"
    print(f"{name} is not what its command writes now; run `make {target}`", file=sys.stderr)
    return False


def _blocks(page: str) -> Iterator[list[str]]:
    """Runs of lines that belong together: a paragraph, an item of a list, a command's output; others by themselves."""
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
