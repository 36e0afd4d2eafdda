# SPDX-License-Identifier: Apache-2.0
"""Print for all commands. Text of a study, a pack or a guest is shown and never obeyed: an unprintable character is
printed as its number, except for line ends (common/foreign.py).
"""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from flashbed.common import atomic, foreign
from flashbed.common.errors import HostResourceError, InputError, host_refusal
from flashbed.common.page import PageTable

ALLOWED_CONTROLS = "\n\t"
"""Unprintable characters that messages may contain."""


class _Plain(Console):
    """A console that prints text literally, without markup."""

    def __init__(self, **how: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, soft_wrap=True, **how)

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(
            *(foreign.plain(item, ALLOWED_CONTROLS) if isinstance(item, str) else item for item in objects), **how
        )


class PlainFormatter(logging.Formatter):
    """A log formatter that prints text literally, without markup."""

    def format(self, record: logging.LogRecord) -> str:
        return foreign.plain(super().format(record), ALLOWED_CONTROLS)


if not (re.fullmatch(r"[0-9]{1,6}", os.environ.get("COLUMNS", "")) and int(os.environ["COLUMNS"])):
    os.environ.pop("COLUMNS", None)  # Rich accepts a width of 0, and prints nothing

out = _Plain()

_WIDE = 100_000
"""The width of a file or pipe, in columns. A table takes only the width that it needs."""


def check_page(file: Path | None) -> None:
    """Raise InputError or HostResourceError if write_page() cannot write there, before a step that takes hours."""
    if file is None or (file.exists() and not file.is_file() and not file.is_dir()):
        return  # a pipe or a device is opened only once, for writing
    was_there = file.exists()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab"):
            pass
        target = Path(os.path.realpath(file))
        if not was_there:
            target.unlink()
        with tempfile.TemporaryFile(dir=target.parent):  # write_page() replaces a file, and needs its directory
            pass
    except IsADirectoryError:
        raise InputError(f"--html {file}: is a folder; name a file in it") from None
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"--html {file}: {file.parent} is no folder; name a file in one") from None
    except OSError as error:
        raise host_refusal(file, error) from None


def say(line: str) -> None:
    """Print a line at once, for a reader who follows. Raises OSError if the reader is gone."""
    try:
        print(foreign.plain(line, ALLOWED_CONTROLS), flush=True)
    except OSError:
        # The rest of the buffer would fail again, with a message, when Python exits
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
    """Write one HTML file atomically. `lead` are highlighted lines; `is_bad` says whether they report a problem.
    Raises HostResourceError.
    """
    from flashbed.report.html import render_page

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_named(file, render_page(title, lines, tables, lead, is_bad=is_bad).encode())
    except OSError as error:
        raise HostResourceError(f"--html {file}: {error.strerror}; mend that, or name another file") from None


def write_artefact(content: bytes) -> None:
    """Write an artefact: its bytes to a pipe or a file, plain text to a terminal."""
    if sys.stdout.isatty():
        print(foreign.plain(content.decode(errors="replace"), ALLOWED_CONTROLS))
    else:
        sys.stdout.buffer.write(content)


def tell_page(file: Path) -> None:
    """Print where the page is."""
    out.print(f"Report: {file.absolute()}")


def print_table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table. Rows are cells of text, one line each."""
    table = Grid(
        *map(foreign.plain, columns),
        title=foreign.plain(title),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for row in rows:
        table.add_row(*(foreign.plain(cell, ALLOWED_CONTROLS) for cell in row))
    _console().print(table)


def _console() -> Console:
    """Return the console. For a pipe or a file it does not cut the table, unless COLUMNS sets a width."""
    if out.is_terminal:
        return out
    return _Plain(width=int(os.environ.get("COLUMNS", _WIDE)))
