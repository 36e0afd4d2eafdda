# SPDX-License-Identifier: Apache-2.0
"""What all commands print to. Text of a study, a pack or a guest is shown, and never obeyed: what cannot be printed
comes as its number, line ends excepted (common/foreign_text.py).
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from flashbed.common import foreign_text
from flashbed.common.errors import HostResourceError, InputError, host_refusal
from flashbed.common.page import PageTable

KEPT = "\n\t"
"""What cannot be printed and stands in messages all the same."""


class _Plain(Console):
    """A console on which text is just that."""

    def __init__(self, **how: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, soft_wrap=True, **how)

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*(foreign_text.plain(one, KEPT) if isinstance(one, str) else one for one in objects), **how)


class PlainFormatter(logging.Formatter):
    """The same for what is logged."""

    def format(self, record: logging.LogRecord) -> str:
        return foreign_text.plain(super().format(record), KEPT)


if not (re.fullmatch(r"[0-9]{1,6}", os.environ.get("COLUMNS", "")) and int(os.environ["COLUMNS"])):
    os.environ.pop("COLUMNS", None)  # Rich takes 0 for a width, and prints nothing

out = _Plain()

_WIDE = 100_000
"""Columns of what is no terminal: more than a table needs, which takes no more than it needs."""


def check_page(file: Path | None) -> None:
    """Raises InputError or HostResourceError for a place where write_page() cannot write, before what takes hours."""
    if file is None or (file.exists() and not file.is_file() and not file.is_dir()):
        return  # a pipe or a device is opened once, by who writes
    was_there = file.exists()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab"):
            pass
        if not was_there:
            Path(os.path.realpath(file)).unlink()
    except IsADirectoryError:
        raise InputError(f"--html {file}: is a folder; name a file in it") from None
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"--html {file}: {file.parent} is no folder; name a file in one") from None
    except OSError as error:
        raise host_refusal(file, error) from None


def say(line: str) -> None:
    """At once, for who follows along. Raises OSError if nobody reads it any more."""
    try:
        print(foreign_text.plain(line, KEPT), flush=True)
    except OSError:
        # What stays in the buffer would fail again, with a message, when Python ends
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise


def write_page(
    file: Path,
    title: str,
    lines: Sequence[str],
    tables: Sequence[PageTable],
    lead: Sequence[str] = (),
    *,
    is_bad: bool = False,
) -> None:
    """As one HTML file; `lead` are lines that stand out, `is_bad` whether they say that something is. Raises
    HostResourceError.
    """
    from flashbed.report.page import render

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(render(title, lines, tables, lead, is_bad=is_bad))
    except OSError as error:
        raise HostResourceError(f"--html {file}: {error.strerror}; mend that, or name another file") from None


def write_artefact(content: bytes) -> None:
    """As it is into a pipe or a file; to a terminal as text."""
    if sys.stdout.isatty():
        print(foreign_text.plain(content.decode(errors="replace"), KEPT))
    else:
        sys.stdout.buffer.write(content)


def tell_page(file: Path) -> None:
    """Where it is."""
    out.print(f"Report: {file.absolute()}")


def print_table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    """Rows are cells of text, a line each."""
    table = Grid(
        *map(foreign_text.plain, columns),
        title=foreign_text.plain(title),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for row in rows:
        table.add_row(*(foreign_text.plain(cell, KEPT) for cell in row))
    _console().print(table)


def _console() -> Console:
    """Who reads a pipe or a file wants all of a table, unless COLUMNS says how wide it is to be."""
    if out.is_terminal:
        return out
    return _Plain(width=int(os.environ.get("COLUMNS", _WIDE)))
